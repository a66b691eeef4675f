"""From before the first constructor to after the last destructor, with forks and signals between.

The programs are in tests/programs/life. They share one plan, of the sites in their library.
Rows are those of the checklist of what breaks preloaded allocators.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import run_planned
from support.programs.life import (
    compile_life,
    plan_of_each_context,
    program,
    run_life,
)


def test_exit_handlers_come_before_the_first_malloc_and_from_within_handlers() -> None:
    """Row 4."""
    run = run_life(program("handlers"))
    assert (run.status, run.stdout) == (0, "100 100 100, 200 grouped\n")
    assert run.allocations[1] >= 200


def test_the_next_allocator_is_set_up_before_the_first_thread(tmp_path: Path) -> None:
    """Even if all that the main thread allocates is grouped, pthread_create's own memory too."""
    command = [str(program("first_worker"))]
    run = run_planned(command, plan_of_each_context(tmp_path, command))
    assert (run.status, run.stdout) == (0, "own arena\n")
    assert sum(run.allocations) > 0


def test_children_of_a_program_that_allocates_in_threads_allocate() -> None:
    """Row 5: with handlers around fork that allocate, registered before and after ours."""
    run = run_life(program("forks"))
    assert (run.status, run.stdout) == (0, "150 of 150\n")
    assert run.allocations[0] > 0 and run.allocations[1] > 0


def test_a_fork_comes_before_and_among_the_constructors() -> None:
    """Row 6."""
    run = run_life(program("early_fork"))
    assert (run.status, run.stdout) == (0, "1000 grouped, 3 good\n")
    assert run.allocations[2] == 1000


def test_forks_race_first_allocations_from_before_the_first_constructor_on() -> None:
    """Row 6: the handlers for fork are not there yet, and each thread's heaps are being made."""
    run = run_life(program("racing_fork"))
    assert (run.status, run.stdout) == (0, "75 of 75 children, 600 grouped\n")


def test_children_by_every_way_of_spawning() -> None:
    """Rows 7 and 25: children share the memory, are the program once more, or another one."""
    run = run_life(program("spawns"), str(compile_life("stranger.c", "stranger")), "/bin/true")
    assert run.status == 0
    assert run.stdout == (
        "100 by vfork, 500 intact, itself 0, other 0, other 0, system 7, 100 grouped, heard\n"
    )
    assert run.allocations[0] >= 600 and run.allocations[2] >= 100 * 100


def test_a_plan_of_others_is_inert() -> None:
    """Row 25."""
    run = run_life(compile_life("stranger.c", "stranger"))
    assert (run.status, run.stderr) == (0, "")
    assert not run.stats["active"] and run.stats["resident_bytes"] == 0


WHOLE = "made 1000\nstatic destructor 1000\nlate freed 1000\n"


@pytest.mark.parametrize("way", ["return", "exit", "thread", "pthread_exit"])
def test_objects_are_freed_by_destructors_that_run_last(way: str) -> None:
    """Row 12. The report is written by our destructor; what is alive in it is freed later."""
    run = run_life(program("exits", "late"), way)
    assert (run.status, run.stdout) == (3, WHOLE)
    assert run.allocations[0] >= 2000
    assert run.stats["groups"][2]["live_bytes"] >= 1000 * 32


@pytest.mark.parametrize(
    ("way", "status", "output"),
    [
        ("_exit", 3, "made 1000\n"),
        ("quick_exit", 3, "made 1000\nquick handler\n"),
        ("abort", -6, "made 1000\nabort handler\n"),
    ],
)
def test_ends_without_destructors(way: str, status: int, output: str) -> None:
    """Row 12. The program itself says that its thousand objects were grouped."""
    run = run_life(program("exits", "late"), way)
    assert (run.status, run.stdout) == (status, output)


@pytest.mark.parametrize("interrupted", ["first", "fresh memory", "lists", "new chunk"])
def test_a_signal_may_come_between_any_two_instructions(interrupted: str) -> None:
    """Rows 23 and 34: the handler allocates and frees at the same sites."""
    run = run_life(program("reentry"), interrupted)
    assert (run.status, run.stdout) == (0, "many signals, 0 failed\n"), run.stderr
    assert sum(run.allocations) > 0


def test_a_storm_of_alarms_whose_handler_allocates() -> None:
    """Row 23, as far as it can be asked for: no allocator else is interrupted."""
    run = run_life(program("alarms"))
    assert (run.status, run.stdout) == (0, "fine\n")
    assert min(run.allocations) > 1500
