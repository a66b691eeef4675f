"""The calls of the recorded program in its source: kept, merged, and refused if damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadProfile
from halo.record.profile import (
    SOURCE_CALLS,
    Frame,
    Module,
    SourceCall,
    SourceCalls,
    merge_parts,
    profile_json,
    read_profile,
    write_profile,
)
from halo.record.transfer import recorded_calls, steps
from support.command import compile_c
from support.programs.rebuilt import SOURCE
from support.samples.plan import Sample

PUSH = SourceCall("push", "prog.c", 5, 3, "malloc")
CALL = ["push", "prog.c", 5, 3, "malloc"]


def stored(path: Path, section: Any) -> Path:
    sample = Sample()
    sample.add([1])
    document: dict[str, Any] = json.loads(json.dumps(profile_json(sample.profile())))
    path.write_text(json.dumps(document | {SOURCE_CALLS.key: section}))
    return path


def test_it_is_written_as_it_was_read(tmp_path: Path) -> None:
    section = {"program": "/prog", "calls": [[16, [CALL, ["main", "prog.c", 9, 8, "push"]]]]}
    profile = read_profile(stored(tmp_path / "one", section))
    assert SOURCE_CALLS.of(profile) == SourceCalls(
        "/prog",
        ((16, (PUSH, SourceCall("main", "prog.c", 9, 8, "push"))),),
    )
    write_profile(profile, tmp_path / "two")
    assert read_profile(tmp_path / "two") == profile


def test_calls_of_all_parts_are_kept(tmp_path: Path) -> None:
    parts = [
        stored(tmp_path / str(at), {"program": "/prog", "calls": [[at, [CALL]], [99, [CALL]]]})
        for at in (32, 16)
    ]
    merged = SOURCE_CALLS.of(merge_parts(parts, "/prog"))
    assert merged is not None and [at for at, _ in merged.calls] == [16, 32, 99]


@pytest.mark.parametrize(
    "section",
    [
        [],
        {"program": "/prog"},
        {"program": "/prog", "calls": [[16, []]]},
        {"program": "/prog", "calls": [[-1, [CALL]]]},
        {"program": "/prog", "calls": [[16, [CALL[:4]]]]},
        {"program": "/prog", "calls": [[16, [[*CALL[:2], "5", 3, ""]]]]},
    ],
    ids=range(6),
)
def test_damage_is_one_sentence(tmp_path: Path, section: Any) -> None:
    with pytest.raises(BadProfile, match="source_calls"):
        read_profile(stored(tmp_path / "bad", section))


def test_callees_of_a_large_program_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = str(compile_c(SOURCE, tmp_path / "prog"))
    sites = steps.read_build(program).sites
    [address] = [
        at
        for at, site in sites.items()
        if (site.steps[0].callee, site.steps[0].position.function) == ("malloc", "push")
    ]
    sample = Sample()
    sample.add([1])
    profile = replace(
        sample.profile(), modules=(Module(program, "aa"),), frames=(Frame(0, address, 0),)
    )
    for limit, callee in ((steps.MAX_DISASSEMBLED, "malloc"), (0, "")):
        monkeypatch.setattr(steps, "MAX_DISASSEMBLED", limit)
        found = recorded_calls(profile, program)
        assert found is not None and found.program == program
        [(at, [call, *_])] = found.calls
        assert (at, call.function, call.callee) == (address, "push", callee)
        assert call.line - call.first == 1
