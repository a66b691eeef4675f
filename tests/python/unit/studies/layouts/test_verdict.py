"""The verdict compares the best other order with the best usual one, in equal packing."""

from __future__ import annotations

import pytest

from halo.studies.layouts.document import MissPlaces, Replayed, ReplayedLayout
from halo.studies.layouts.table import layouts_table, opening
from halo.studies.layouts.verdict import Answer, Verdict, judge
from support.samples.layouts import replayed as small_replay
from support.samples.layouts import replayed_layout


def layout(order: str, cycles: int, packing: str = "reuse") -> ReplayedLayout:
    return replayed_layout(order, packing, cycles, L1D=cycles // 10)


def replayed(*layouts: ReplayedLayout, recorded: int = 1000) -> Replayed:
    first = layout("as-recorded", recorded, "recorded")
    return small_replay(first, *layouts, communities=(4, 2))


def test_the_best_order_is_compared_with_the_best_usual_one() -> None:
    found = judge(
        replayed(layout("allocation-order", 800), layout("hml", 600), layout("spectral", 700))
    )
    assert (found.usual.order, found.best.order) == ("allocation-order", "hml")
    assert found.gain == 0.25
    assert found.helps
    assert "hml would save 25%" in found.sentence


def test_the_other_packings_do_not_count() -> None:
    found = judge(
        replayed(
            layout("allocation-order", 900),
            layout("hml", 950),
            layout("hml", 10, "malloc"),
        )
    )
    assert found.best.cycles == 950
    assert not found.helps
    assert "more than 0.0%" in found.sentence


def test_a_program_without_misses_gains_nothing() -> None:
    found = judge(replayed(layout("hml", 0), recorded=0))
    assert found.gain == 0
    assert not found.helps


def test_the_table_is_relative_to_the_recorded_layout() -> None:
    one = replayed(layout("hml", 500))
    assert [row.cells for row in layouts_table(one).rows] == [
        ("as-recorded", "recorded", "1.000", "1.000"),
        ("hml", "reuse", "0.500", "0.500"),
    ]
    assert "2 edges and 4, 2 communities" in opening(one)


def judged(cycles: int, places: MissPlaces, recorded: int = 1000) -> Verdict:
    """The verdict if the best order has these modelled cycles."""
    usual, other = layout("as-recorded", recorded, "recorded"), layout("hml", cycles)
    return judge(small_replay(usual, other, miss_places=places))


@pytest.mark.parametrize(
    ("large", "arrays", "answer"),
    [
        (50, 50, Answer.NONE),
        (51, 49, Answer.SPLIT),
        (49, 51, Answer.ARRAYS),
        (0, 100, Answer.ARRAYS),
    ],
)
def test_what_has_more_than_half_of_the_misses_is_the_reason(
    large: int, arrays: int, answer: Answer
) -> None:
    found = judged(960, MissPlaces(misses=100, large=large, arrays=arrays, typed=True))
    assert not found.helps
    assert found.answer is answer
    assert "more than 4.0%" in found.sentence
    assert (answer.value in found.sentence) == (answer is not Answer.NONE)
    assert "may be arrays" not in found.sentence


def test_an_order_that_helps_is_the_verdict_whatever_misses() -> None:
    found = judged(950, MissPlaces(misses=100, large=0, arrays=90, typed=True))
    assert found.answer is Answer.REORDER
    assert "Arrays" not in found.sentence


def test_large_objects_of_a_trace_without_types_may_be_arrays() -> None:
    found = judged(1000, MissPlaces(misses=100, large=80, arrays=0, typed=False))
    assert found.answer is Answer.SPLIT
    assert "have 80% of the first cache's misses: split first, with halo study trace split" in (
        found.sentence
    )
    assert "may be arrays" in found.sentence


def test_a_program_without_misses_has_no_reason() -> None:
    places = MissPlaces(misses=0, large=0, arrays=0, typed=True)
    assert judged(0, places, recorded=0).answer is Answer.NONE
