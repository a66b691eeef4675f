"""The section of the object trace: renumbered with the contexts, and refused if it is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput, BadProfile
from halo.plan.strategies.factory import make_grouping
from halo.record.merge import merge_recording
from halo.record.profile import OBJECT_TRACE, ObjectTrace, merge_parts, profile_json, read_profile
from support.samples.plan import Sample

CONTEXTS = [[0, 5], [1, 3], [2, 9]]


def part(path: Path, section: Any) -> Path:
    """A part of three contexts, the last of which has most accesses."""
    sample = Sample()
    for site in (1, 2, 3):
        sample.add([site], accesses=site)
    document: dict[str, Any] = json.loads(json.dumps(profile_json(sample.profile())))
    if section is not None:
        document["object_trace"] = section
    path.write_text(json.dumps(document))
    return path


def test_contexts_are_renumbered(tmp_path: Path) -> None:
    traced = part(tmp_path / "one", {"file": "/trace", "contexts": CONTEXTS})
    merged = merge_parts([traced, part(tmp_path / "two", None)], "prog")
    assert OBJECT_TRACE.of(merged) == ObjectTrace("/trace", ((0, 9), (1, 3), (2, 5)))


def test_the_trace_moves_beside_the_profile(tmp_path: Path) -> None:
    trace = tmp_path / "recorded"
    trace.write_text("content")
    traced = part(tmp_path / "part", {"file": str(trace), "contexts": CONTEXTS})
    merge_recording([traced], Path("prog"), (), tmp_path / "prog.profile")
    found = OBJECT_TRACE.of(read_profile(tmp_path / "prog.profile"))
    assert found is not None and found.file == str(tmp_path / "prog.objects")
    assert (tmp_path / "prog.objects").read_text() == "content"
    assert not trace.exists()
    assert found.bytes == len("content")


def test_the_trace_is_found_beside_a_profile_that_moved(tmp_path: Path) -> None:
    section = {"file": "/nowhere/prog.objects", "contexts": CONTEXTS}
    profile = part(tmp_path / "prog.profile", section)
    gone = OBJECT_TRACE.of(read_profile(profile))
    assert gone is not None and gone.file == "/nowhere/prog.objects"
    (tmp_path / "prog.objects").touch()
    found = OBJECT_TRACE.of(read_profile(profile))
    assert found is not None and found.file == str(tmp_path / "prog.objects")


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ([], "object_trace"),
        ({"contexts": []}, "object_trace"),
        ({"file": "/trace", "contexts": [[3, 1]]}, "out of range"),
        ({"file": "/trace", "contexts": [[0, 1], [1, 1]]}, "a number of two contexts"),
        ({"file": "/trace", "contexts": [[0, -1]]}, "negative"),
    ],
)
def test_a_damaged_section_is_refused(tmp_path: Path, section: Any, words: str) -> None:
    with pytest.raises(BadProfile, match=words):
        read_profile(part(tmp_path / "one", section))


def test_two_traces_are_refused(tmp_path: Path) -> None:
    section = {"file": "/trace", "contexts": CONTEXTS}
    with pytest.raises(BadProfile, match="several object traces"):
        merge_parts([part(tmp_path / name, section) for name in ("one", "two")], "prog")


def test_the_trace_needs_a_place(tmp_path: Path) -> None:
    traced = part(tmp_path / "part", {"file": "/trace", "contexts": CONTEXTS})
    with pytest.raises(BadInput, match="leaves it no place"):
        merge_recording([traced], Path("prog"), (), tmp_path / "prog.objects")


def test_the_search_needs_a_trace() -> None:
    sample = Sample()
    sample.add([1])
    with pytest.raises(BadInput, match="record it with: halo record --objects"):
        make_grouping(sample.profile(), "search")
