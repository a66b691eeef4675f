"""`halo hints --captured`: verdicts, places of values and rules of programs without a build."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from halo.captured.refusals import Refusal
from halo.captured.study import find_captured_hints
from halo.hints.run import HintOptions
from halo.profile import read_profile
from halo.schema.hints import TypeHint
from halo.settings import read_settings
from support.captured import NODES, compile_program
from support.command import REPOSITORY, halo

VERDICTS = {
    "use_keyed": "correlated, but not known at allocation",
    "use_ascending": "already laid out so",
    "use_shuffled": "no correlation",
    "use_sized": "bin by size",
    "use_buffers": "no correlation",
}
"""Of tests/programs/hints/verdicts.c, whose keys are computed by calls behind the allocation."""


def record(folder: Path, program: str) -> Path:
    """Records `folder`/program as `folder`/program.profile."""
    name = f"{program}.profile"
    command = ("record", "--objects", "--contents", "-o", name, "--", f"./{program}")
    done = halo(*command, cwd=folder)
    assert done.status == 0, done.stderr
    return folder / name


def judged(profile: Path, folder: Path) -> list[TypeHint]:
    """All call sites, judged by few trees, as these are enough for objects so few."""
    options = HintOptions(trees=(20,))
    found = find_captured_hints(
        read_settings(), read_profile(profile), options, folder, lambda name: None
    )
    assert found.captured and found.complete
    return list(found.types)


@pytest.fixture(scope="module", params=["gcc", "clang-19"])
def verdicts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the program with the verdicts."""
    folder = tmp_path_factory.mktemp("verdicts")
    source = (REPOSITORY / "tests" / "programs" / "hints" / "verdicts.c").read_text()
    compile_program(folder, request.param, source, "-fno-inline")
    return record(folder, "program")


def by_function(found: list[TypeHint]) -> Mapping[str, TypeHint]:
    return {one.places[0].partition("+")[0]: one for one in found}


def test_each_call_site_has_its_verdict(verdicts: Path, tmp_path: Path) -> None:
    found = by_function(judged(verdicts, tmp_path))
    assert {name: found[name].verdict for name in VERDICTS} == VERDICTS
    keyed = found["use_keyed"]
    assert keyed.features[0].name == "+0 f64"
    assert not keyed.features[0].at_birth and keyed.features[0].locations == ()
    assert (keyed.rule, keyed.hint) == ("", ())
    assert keyed.no_rule.endswith("the code behind it is followed up to a call.")
    assert "several sizes" in found["use_sized"].no_rule
    rare = next(one for one in found.values() if one.accesses < 100)
    assert rare.verdict == "" and rare.why == rare.no_rule == Refusal.RARE.of_site()


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_the_rule_is_that_of_the_plan(tmp_path: Path, compiler: str, level: str) -> None:
    few = NODES.replace("kNodes = 20000, kOwners = 100", "kNodes = 2000, kOwners = 80")
    compile_program(tmp_path, compiler, few, level, "-s")
    profile = record(tmp_path, "program")
    nodes = judged(profile, tmp_path)[0]
    assert (nodes.verdict, nodes.objects) == ("use hint", 2000)
    [owner] = [it for it in nodes.features if it.name == "+8 i32"]
    assert owner.at_birth
    [location] = owner.locations
    assert location.site == nodes.type
    done = halo("plan", "--strategy", "hints", "-o", "app.plan", profile.name, cwd=tmp_path)
    assert done.status == 0, done.stderr
    [rule] = json.loads((tmp_path / "app.plan.json").read_text())["hints"]
    assert (rule["reason"], (rule["site"],)) == (nodes.rule, nodes.places)
    [dimension] = nodes.hint
    assert dimension.path in ((8,), (12,)), "the owner or its complement, which is computed"
    code = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "-M", "intel", "program"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    behind = code.partition(f"{int(location.site.partition('+')[2], 16):x}:\t")[2]
    assert location.value in behind.split("ret", 1)[0]


def test_the_command_prints_what_it_writes(verdicts: Path, tmp_path: Path) -> None:
    outcome = halo(
        "hints", "--captured", "--json", "found.json", "--level", "64", str(verdicts), cwd=tmp_path
    )
    assert (outcome.status, outcome.stderr) == (0, "")
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["format"] == "halo-hints" and found["captured"]
    assert "Call sites, the most accessed first" in outcome.stdout
    for one in found["types"]:
        assert one["type"] in outcome.stdout
    shown = halo("report", "found.json", "-o", "page.html", cwd=tmp_path)
    assert shown.status == 0, shown.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--type", "nothing*"), 117, "No call site matches nothing*; the recording has: "),
        (("--deep",), 111, "--captured goes with none of --deep, --phase and -o"),
        (("--phase", "main"), 111, "--captured goes with none of --deep, --phase and -o"),
        (("-o", "app.hints"), 111, "--captured goes with none of --deep, --phase and -o"),
        (("--seed", "-1"), 111, "--seed"),
    ],
)
def test_bad_options_are_one_sentence(
    verdicts: Path, tmp_path: Path, arguments: tuple[str, ...], status: int, words: str
) -> None:
    outcome = halo("hints", "--captured", *arguments, str(verdicts), cwd=tmp_path)
    assert outcome.status == status
    assert words in outcome.stderr and outcome.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_recordings_that_tell_nothing_are_one_sentence(verdicts: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("nothing")
    objects = verdicts.with_suffix(".objects")
    (tmp_path / "alone.profile").write_bytes(verdicts.read_bytes())
    (tmp_path / "program.objects").write_bytes(objects.read_bytes()[:-1])
    moved = verdicts.parent / "moved"
    for name, status, words in (
        ("missing", 115, "missing"),
        ("other", 115, "other"),
        (str(objects), 115, objects.name),
    ):
        outcome = halo("hints", "--captured", "--json", "found.json", name, cwd=tmp_path)
        assert outcome.status == status, outcome.stderr
        assert words in outcome.stderr and outcome.stderr.count("\n") == 1
    objects.rename(moved)
    try:
        outcome = halo("hints", "--captured", "alone.profile", cwd=tmp_path)
    finally:
        moved.rename(objects)
    assert outcome.status == 121
    assert "is not the trace that was recorded with the profile" in outcome.stderr
    program = verdicts.parent / "program"
    for options, words in (((), "no object trace"), (("--objects",), "has no contents of objects")):
        done = halo("record", *options, "-o", "few.profile", "--", str(program), cwd=tmp_path)
        assert done.status == 0, done.stderr
        outcome = halo("hints", "--captured", "--json", "found.json", "few.profile", cwd=tmp_path)
        assert outcome.status == 117
        assert words in outcome.stderr and "halo hints --captured" in outcome.stderr
    assert not (tmp_path / "found.json").exists()
