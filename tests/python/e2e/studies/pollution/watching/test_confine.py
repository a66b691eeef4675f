"""The strategy `confine`: exact classes from a recording, which the runtime and the watch serve."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.plan import read_plan
from support.command import halo
from support.planned import compile_program, run_planned
from support.polluter import POLLUTER

MACHINE = """
[[cache]]
name = "L1D"
bytes = 32768
ways = 8

[[cache]]
name = "LLC"
bytes = 2097152
ways = 16
cycles = 40

[[tlb]]
name = "DTLB"
pages = 64
ways = 4
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(tmp_path_factory.mktemp("confine"), POLLUTER)


@pytest.fixture(scope="module")
def profile(program: Path) -> Path:
    path = program.with_suffix(".profile")
    options = ("--objects", "--max-object", "268435455", "-o", str(path))
    recorded = halo("record", *options, "--", str(program), "3")
    assert recorded.status == 0, recorded.stderr
    return path


def confined(profile: Path, plan: Path, *options: str) -> None:
    machine = plan.with_suffix(".toml")
    machine.write_text(MACHINE)
    given = ("--strategy", "confine", "--option", f"machine={machine}", *options)
    planned = halo("plan", str(profile), *given, "-o", str(plan))
    assert planned.status == 0, planned.stderr


def test_contexts_that_always_miss_are_confined(profile: Path, tmp_path: Path) -> None:
    plan = tmp_path / "a.plan"
    confined(profile, plan)
    found = [group.spans for group in read_plan(plan).groups]
    polluter, hot = found[0], found[1]
    assert polluter is not None and hot is not None
    assert (polluter.confined, hot.confined) == (True, False)
    assert polluter.ring == hot.ring == (2 << 20) // 8
    assert polluter.density >= 56 * 16, "nearly all 64 lines of a page, in sixteenths"


def test_contexts_that_do_not_pollute_may_be_left_out(profile: Path, tmp_path: Path) -> None:
    plan = tmp_path / "a.plan"
    confined(profile, plan, "--option", "watched=false", "--option", "ring=16777216")
    spans = [group.spans for group in read_plan(plan).groups]
    assert [one.ring for one in spans if one is not None] == [16777216]


def test_the_ring_serves_the_polluting_context(
    program: Path, profile: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "a.plan"
    confined(profile, plan, "--option", "ring=33554432")
    run = run_planned([str(program), "3"], plan)
    assert run.status == 0
    assert run.stats["spans"]["confined"] == 4
    assert run.stats["spans"]["allocations"] >= 5


def test_a_profile_without_an_object_trace_is_refused(program: Path, tmp_path: Path) -> None:
    profile = tmp_path / "a.profile"
    assert halo("record", "--exact", "-o", str(profile), "--", str(program), "1").status == 0
    plan = halo("plan", str(profile), "--strategy", "confine", "-o", str(tmp_path / "a.plan"))
    assert plan.status == 117
    assert "--objects --max-object 268435455" in plan.stderr
