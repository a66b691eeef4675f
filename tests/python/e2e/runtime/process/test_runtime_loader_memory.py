"""The loader's own blocks: thread-local memory, its tables, and the stacks that they come with.

Rows are those of the checklist of what breaks preloaded allocators.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from halo.plan import PlanGroup, drawing_plan, write_plan
from support.planned import make_plan, run_planned
from support.programs.life import library, program

LIBRARIES = 20  # more than the loader's table of a thread has room for at first
ROUNDS = 64
THREADS = 1 + ROUNDS * 6 + ROUNDS // 4  # those of forked children count for themselves


def command(rounds: int) -> list[str]:
    libraries = [library(f"tls_small{at}", "tls_small.c") for at in range(LIBRARIES)]
    return [str(program("tls_blocks")), str(rounds), *map(str, libraries)]


def one_pool(folder: Path) -> Path:
    return drawn(folder, PlanGroup(False, 0))


def pools_by_size(folder: Path) -> Path:
    return drawn(folder, *[PlanGroup(False, 0, True)] * 8)


def drawn(folder: Path, *groups: PlanGroup) -> Path:
    path = folder / "drawn.plan"
    write_plan(drawing_plan(groups, 4096, 16, None), path)
    return path


def recorded(folder: Path) -> Path:
    """Every call site of malloc that was seen, those of the loader among them."""
    return make_plan(folder, command(8), "per-site", "--option", "coverage=1")


# What the loader asks for from a dlopen on until its thread allocates again is forwarded; of the
# plans here only one depends on callers.
FORWARDED: dict[Callable[[Path], Path], float] = {one_pool: 0, pools_by_size: 0, recorded: 0.1}


@pytest.mark.parametrize("plan", FORWARDED)
def test_threads_blocks_of_the_loader_come_and_go(
    tmp_path: Path, plan: Callable[[Path], Path]
) -> None:
    """Rows 15 and 16: every block is grouped and intact, and all return to their groups.

    The thread that frees a block is the one that gets the stack next, the one that makes room in
    the cache of stacks, or the one that notices that a library has gone.
    """
    run = run_planned(command(ROUNDS), plan(tmp_path))
    assert run.status == 0
    seen = re.fullmatch(r"(\d+) touched, (\d+) grouped, stacks used again\n", run.stdout)
    assert seen is not None and int(seen[1]) == THREADS * LIBRARIES
    touched, grouped = int(seen[1]), int(seen[2])
    assert touched * (1 - FORWARDED[plan]) <= grouped <= touched
    assert sum(run.allocations) >= grouped
    # What one round leaves is far more than this; all rounds together leave no more than one.
    assert sum(group["live_bytes"] for group in run.stats["groups"]) < 64 * 1024
