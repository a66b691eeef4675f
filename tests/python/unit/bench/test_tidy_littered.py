"""The arithmetic of bench/tidy_littered.py: sizes of cells, phases, and the threshold."""

from __future__ import annotations

import pytest
from tidy_littered import HINTED, IGNORED, best_of, phases_of, row, sizes_of


def test_sizes_are_those_of_the_log() -> None:
    found = sizes_of("/prog", "4096 40 7\n4136 40 9\n4200 56 7\n")
    assert (found.allocations, found.max_live_allocations) == (3, 3)
    assert (found.bins[40], found.bins[56], sum(found.bins)) == (2, 1, 3)
    assert (found.minimum, found.maximum) == (40, 56)


@pytest.mark.parametrize("log", ["", "4096 5000 7\n"])
def test_logs_without_objects_of_cells_are_refused(log: str) -> None:
    with pytest.raises(SystemExit, match="logs no hints"):
        sizes_of("/prog", log)


def test_phases_are_read_by_name() -> None:
    assert phases_of("littering 0.5\ntraversal 1.25\n") == {"littering": 0.5, "traversal": 1.25}


@pytest.mark.parametrize(("seconds", "met"), [(1.5, True), (1.6, False)])
def test_the_variant_is_compared_with_the_best_allocator(seconds: float, met: bool) -> None:
    times = {"glibc": [3.0] * 3, "mimalloc": [2.0] * 3, HINTED: [seconds] * 3, IGNORED: [1.0] * 3}
    assert best_of(times) == "mimalloc"
    line, found = row("mesh", "0.5", "traversal", times)
    assert found is met
    assert line.startswith(f"| mesh | traversal | 0.5 | 3.00 | 2.00 | {seconds:.2f} | 1.00 |")
