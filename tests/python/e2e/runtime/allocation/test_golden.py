"""The fast paths of libhalo.so execute what the golden file says, no instruction more or less."""

from __future__ import annotations

import warnings
from pathlib import Path

from support.command import BUILD, REPOSITORY, load_module

golden = load_module(REPOSITORY / "tests" / "golden" / "fast_paths.py", "golden_fast_paths")


def test_the_counts_are_those_of_the_golden_file() -> None:
    recorded, now = golden.read_golden(), golden.measure(BUILD)
    if sentence := golden.other_compiler(recorded, now):
        warnings.warn(sentence, stacklevel=1)
    found = golden.differences(recorded, now)
    assert not found, "\n".join([*found, f"if that is meant to be: {golden.RENEW}"])


def test_the_paths_are_those_that_they_are_named_for() -> None:
    """Each group has served just its own path's operations, and nothing was forwarded instead."""
    run = golden.run_fast_paths(BUILD, with_stats=True)
    each = int(run.stdout.split()[0])
    assert each > 64
    assert [group["allocations"] for group in run.stats["groups"]] == [each] * 4
    # The blocks of two groups out of four are freed between markers as free_grouped.
    assert {one.path: one.times for one in run.counted} == {
        path: 128 if path == "free_grouped" else 64 for path in golden.read_golden().costs
    }


def test_the_counter_counts_right(tmp_path: Path) -> None:
    """Code in assembly: push, prefetch and nop, which access nothing, mov from memory, add to it
    twice, cmp, jne, jmp, pop, ret."""
    counted, _ = golden.run_counted(BUILD, tmp_path, "--known-work")
    assert counted == [golden.Counted("known_work", 64, golden.Cost(11, 5, 3, 3))]
