"""The cost of a candidate: of misses, and of objects that no group serves."""

from __future__ import annotations

import pytest

from halo.studies.search.cost import (
    MIXED_PAGE_CYCLES,
    NEXT_ALLOCATION_CYCLES,
    STEP_CYCLES,
    modelled_cost,
)
from halo.studies.search.document import LoadedTrace, Predicted


def predicted(cycles: int, grouped: int, mixed: int = 0) -> Predicted:
    return Predicted(
        name="0",
        accesses=50,
        cycles=cycles,
        grouped=grouped,
        mixed=mixed,
        peak_bytes=0,
        misses={"L1D": 1},
    )


def test_objects_that_no_group_serves_cost_by_the_share_of_replayed_accesses() -> None:
    trace = LoadedTrace(accesses=200, kept=50, objects=1000)
    assert modelled_cost(trace, predicted(700, 1000)) == 700
    expected = 700 + NEXT_ALLOCATION_CYCLES * 400 / 4
    assert modelled_cost(trace, predicted(700, 600)) == pytest.approx(expected)


def test_a_few_more_misses_are_worth_faster_allocations() -> None:
    trace = LoadedTrace(accesses=100, kept=100, objects=1000)
    assert modelled_cost(trace, predicted(5000, 1000)) < modelled_cost(trace, predicted(4000, 0))


def test_objects_in_mixed_size_pages_cost_more() -> None:
    trace = LoadedTrace(accesses=200, kept=50, objects=1000)
    expected = 700 + MIXED_PAGE_CYCLES * 300 / 4
    assert modelled_cost(trace, predicted(700, 1000, 300)) == pytest.approx(expected)


def test_steps_of_walks_cost() -> None:
    trace = LoadedTrace(accesses=200, kept=50, objects=1000)
    expected = 700 + STEP_CYCLES * 2000 / 4
    assert modelled_cost(trace, predicted(700, 1000), 2000) == pytest.approx(expected)


def test_results_without_these_counts_have_the_cost_of_misses() -> None:
    trace = LoadedTrace(accesses=0, kept=0)
    assert modelled_cost(trace, predicted(700, 0)) == 700
