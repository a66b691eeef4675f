"""Modules that come and go, the runtime itself among them.

Rows are those of the checklist of what breaks preloaded allocators.
"""

from __future__ import annotations

from pathlib import Path

from planned import RUNTIME, run_planned
from test_runtime_process_life import library, plan_of_each_context, program, run_life


def twins() -> list[str]:
    """Two libraries with the same code at the same places, and frames of different sizes."""
    return [str(library(f"twin{size}", "twin.c", f"-DFRAME={size}")) for size in (1200, 2000)]


def test_a_library_takes_the_place_of_another_with_other_frames(tmp_path: Path) -> None:
    """Row 33: both are in the plan, decided by their second frame."""
    command = [str(program("twins")), *twins()]
    plan = plan_of_each_context(tmp_path, [*command, "3"])
    run = run_planned([*command, "40"], plan)
    assert (run.status, run.stdout) == (0, "at the same place: 40\n")
    assert [count for count in sorted(run.allocations) if count >= 280] == [
        40 * times for times in (7, 11, 13, 17)
    ]


def test_two_threads_open_and_close_libraries_while_others_allocate(tmp_path: Path) -> None:
    """Row 33: the plan has all contexts, the loader's among them."""
    command = [str(program("reopening")), *twins()]
    plan = plan_of_each_context(tmp_path, [*command, "3"])
    run = run_planned([*command, "300"], plan)
    assert (run.status, run.stdout) == (0, "2 grouped all along\n")
    assert sum(run.allocations) > 1000


def test_the_runtime_is_opened_and_closed_under_itself() -> None:
    """Rows 9 and 11: it is loaded already, and stays."""
    run = run_life(program("own_library"), str(RUNTIME))
    assert (run.status, run.stdout) == (0, f"still there, {11 * 500} grouped\n")
    assert run.allocations[1] == 11 * 500


def test_the_runtime_is_opened_without_being_preloaded() -> None:
    """Rows 9 and 11: too late to interpose anything, it does no harm and is never unmapped."""
    run = run_life(program("own_library"), str(RUNTIME), env={"LD_PRELOAD": ""})
    assert (run.status, run.stdout) == (0, "still there, 0 grouped\n")


def test_other_namespaces_keep_their_own_allocator() -> None:
    """Row 26: the planned library and the runtime itself by dlmopen."""
    run = run_life(program("namespaces"), str(library("sites")), str(RUNTIME))
    assert (run.status, run.stdout) == (0, f"{5 * 200} grouped\n")
    assert run.allocations[1] == 5 * 200
