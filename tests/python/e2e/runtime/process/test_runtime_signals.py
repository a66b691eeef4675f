"""Signals whose handlers allocate, in the middle of what takes the runtime longest.

Rows are those of the checklist of what breaks preloaded allocators.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.plan import PlanGroup, drawing_plan, write_plan
from support.planned import run_planned
from support.programs.life import library, plan_of_each_context, program, run_life

INTERRUPTED = ("calloc", "realloc", "remote frees", "reuse")


@pytest.mark.parametrize("interrupted", INTERRUPTED)
def test_a_signal_may_come_between_any_two_instructions_of_long_calls(interrupted: str) -> None:
    """Row 23: no block is given out twice, whatever the handler allocates and frees."""
    run = run_life(program("reentry"), interrupted)
    assert (run.status, run.stdout) == (0, "many signals, 0 failed\n"), run.stderr
    assert sum(run.allocations) > 0


@pytest.mark.parametrize(
    ("pools", "by_size"),
    [(2, False), (2, True), (1, False)],
    ids=["any size", "by size", "one pool"],
)
@pytest.mark.parametrize("interrupted", ["first", "lists", "new chunk", *INTERRUPTED])
def test_signals_among_random_pools(
    interrupted: str, pools: int, by_size: bool, tmp_path: Path
) -> None:
    """Row 23: every allocation of the handler is grouped as well."""
    plan = tmp_path / "any.plan"
    write_plan(drawing_plan([PlanGroup(False, 0, by_size)] * pools, 4096, 0, None), plan)
    run = run_planned([str(program("reentry")), interrupted], plan)
    assert (run.status, run.stdout) == (0, "many signals, 0 failed\n"), run.stderr
    assert sum(run.allocations) > 0


@pytest.mark.parametrize("interrupted", ["opening", "opening, on a signal stack"])
def test_signals_while_modules_come_and_go(interrupted: str, tmp_path: Path) -> None:
    """Row 34: the handler looks contexts up in the tables that are just being made and replaced."""
    twin = str(library("twin1200", "twin.c", "-DFRAME=1200"))
    plan = plan_of_each_context(tmp_path, [str(program("reentry")), "train", twin])
    run = run_planned([str(program("reentry")), interrupted, twin], plan)
    assert (run.status, run.stdout) == (0, "contexts stay known, many signals, 0 failed\n"), (
        run.stderr
    )
    assert sum(run.allocations) > 1000
