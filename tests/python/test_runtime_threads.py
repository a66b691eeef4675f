"""Many threads, short threads, and objects that another thread frees.

Rows are those of the checklist of what breaks preloaded allocators.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from planned import make_plan, run_planned
from test_runtime_process_life import library, program, run_life

MIB = 1 << 20


def pages(stats: dict[str, list[dict[str, int]]]) -> int:
    return sum(group["pages"] for group in stats["groups"])


@pytest.mark.parametrize("ending", ["plain", "local", "key", "key again", "local key again"])
def test_short_threads_leave_nothing_behind(ending: str) -> None:
    """Row 10: also where destructors of thread-local objects and of keys allocate, and go on to
    after our own has run for the last time."""
    run = run_life(program("thread_ends"), ending)
    assert run.status == 0, run.stderr
    assert int(run.stdout.split()[0]) >= 2000 * 100
    assert run.allocations[1] == 2000 * 100
    assert pages(run.stats) <= 8 and run.stats["resident_bytes"] < 4 * MIB


@pytest.mark.parametrize("owner", ["idle", "ended"])
def test_what_others_free_is_used_again(owner: str) -> None:
    """Threads: all frees are remote, and the owner waits or is gone."""
    run = run_life(program("handover"), owner)
    assert (run.status, run.stdout) == (0, "1200000 grouped\n")
    assert run.allocations[:2] == [600000, 600000]
    # 10,000 objects of 32 bytes a group are alive at a time.
    assert pages(run.stats) <= 4 and run.stats["resident_bytes"] < 2 * MIB


def test_sixty_four_threads_neither_deadlock_nor_balloon() -> None:
    """Threads: on however few processors; half of the frees are remote."""
    run = run_life(program("crowd"))
    assert (run.status, run.stdout) == (0, "fine\n")
    assert sum(run.allocations) == 64 * 20000
    assert run.stats["resident_bytes"] < 32 * MIB


def test_the_loader_allocates_thread_local_memory_in_groups(tmp_path: Path) -> None:
    """Rows 8, 15 and 16: the plan has every small context, those of the loader and of the C
    library's threads among them; stacks are cached and used again."""
    heavy = library("tls_heavy")
    command = [str(program("tls_storm")), str(heavy)]
    plan = make_plan(tmp_path, [*command, "1"], "dense")
    run = run_planned([*command, "40"], plan)
    assert (run.status, run.stdout) == (0, f"0 failed, {40 * 8 * 50} grouped\n")
    assert run.allocations[0] > 40 * 8 * 50


def test_frees_in_one_thread_delay_no_call_of_another() -> None:
    """Row 43: a thread may give back much of its heap; nobody else's calls wait for it."""
    run = run_life(program("latency"))
    assert (run.status, run.stderr) == (0, "")
    assert int(run.stdout) < 20_000  # microseconds; freeing all of it takes far longer
    assert sum(run.allocations) > 400_000
