"""Which states are placed, in which slots, and what is predicted of them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import convert

from halo.conflicts.placement import (
    competing,
    is_stream,
    layout_of,
    may_be_placed,
    place,
    rotate,
    table_mask,
)
from halo.plan.model import ALL_SLOTS, PageLayout
from halo.profile import Conflicts
from support.samples.conflicts import conflicts_document, machine, state

OUTSIDE = state(None, 0)


def conflicts_of(
    states: list[dict[str, Any]], pairs: list[list[int]], **machine_of: int
) -> Conflicts:
    document = {
        **conflicts_document(),
        "machine": machine(**machine_of),
        "states": [OUTSIDE, *states],
        "pairs": pairs,
    }
    return convert(document, Conflicts)


def hot(context: int, size: int = 64, **changes: Any) -> dict[str, Any]:
    """A state that conflicts and reuses its lines."""
    return {**state(context, size, conflict=100, reuses=10, peak=1000), **changes}


def test_states_that_conflict_are_placed_together() -> None:
    found = conflicts_of(
        [hot(0), hot(1, conflict=300), hot(2), hot(3)],
        [[1, 3, 200, 200, 10], [2, 2, 600, 600, 10], [4, 4, 1, 1, 0], [4, 1, 199, 199, 0]],
    )
    assert competing(found, 0.005) == [[1, 3, 4], [2]]


def test_a_partner_is_placed_even_if_it_seldom_misses() -> None:
    found = conflicts_of([hot(0), hot(1, conflict=0)], [[1, 2, 150, 150, 10], [1, 1, 50, 50, 0]])
    assert competing(found, 0.005) == [[1, 2]]


def test_nothing_is_placed_if_few_misses_are_conflicts() -> None:
    found = conflicts_of([hot(0, conflict=4, capacity=996)], [[1, 1, 8, 2000, 10]])
    assert competing(found, 0.005) == []
    assert competing(found, 0.004) == [[1]]
    assert competing(conflicts_of([state(0, 64)], []), 0.0) == []


@pytest.mark.parametrize(
    ("one", "lines"),
    [
        (hot(0, reuses=1, far=9), 10),  # a stream
        (hot(0), 10 * 128),  # a capacity problem: 128 lines between uses
        (hot(0, size=2056), 10),  # more than a quarter of 8 KiB
        (hot(0, size=0), 10),  # the other sizes of a context
    ],
)
def test_states_that_placement_cannot_help(one: dict[str, Any], lines: int) -> None:
    found = conflicts_of([one], [[1, 1, 200, 200, lines]])
    assert not may_be_placed(found, 1)
    assert competing(found, 0.005) == []


def test_a_stream_hardly_reuses_lines() -> None:
    found = conflicts_of([hot(0, reuses=1, far=9), hot(1, reuses=2, far=9)], [])
    assert [is_stream(one) for one in found.states[1:]] == [True, False]


def test_small_blocks_start_in_all_slots() -> None:
    found = conflicts_of([hot(0)], [[1, 1, 200, 200, 640]])
    (placed,) = place(found, [[1]])
    assert placed.layout == PageLayout()
    assert placed.predicted == 0.0, "64 lines between uses, one in each set"


def test_overfull_sets_are_predicted() -> None:
    """127 lines between uses: two in nearly each set of two ways."""
    found = conflicts_of([hot(0)], [[1, 1, 200, 200, 1270]])
    (placed,) = place(found, [[1]])
    assert 0.5 * 640 < placed.predicted < 640


def test_a_window_keeps_large_blocks_from_the_lines_of_others() -> None:
    """Both fit if they share no set: 90 lines in three quarters of the slots, 30 in one quarter."""
    states = [hot(0, 4096, reuses=100), hot(1, 4096, reuses=100)]
    pairs = [[1, 1, 200, 200, 9000], [2, 2, 200, 200, 100], [2, 1, 0, 0, 9000]]
    found = conflicts_of(states, pairs, sets=64, ways=4)
    apart = place(found, [[1], [2]])
    assert all(one.layout.way_bytes == 4096 for one in apart)
    assert all(one.layout.starts for one in apart)


def test_blocks_start_before_their_hot_line() -> None:
    found = conflicts_of([hot(0, 256, by_line=[0, 0, 9, 1])], [])
    assert layout_of(found, [1], 1 << 5).starts == 1 << 3
    assert layout_of(found, [1], 1).starts == 1 << 62
    assert layout_of(found, [1], ALL_SLOTS).starts == ALL_SLOTS


@pytest.mark.parametrize(
    ("size", "by_line", "line_start"),
    [
        (240, [99, 1], True),
        (240, [50, 50], False),  # two hot lines
        (200, [99, 1], False),  # 56 bytes of 200 would be wasted
        (256, [99, 1], False),  # starts at a line in any case
    ],
)
def test_blocks_with_one_hot_line_start_at_a_line(
    size: int, by_line: list[int], line_start: bool
) -> None:
    found = conflicts_of([hot(0, size, by_line=by_line)], [])
    assert layout_of(found, [1], ALL_SLOTS).line_start is line_start


def test_masks_rotate_around_the_way() -> None:
    assert rotate(1, 63) == 1 << 63
    assert rotate(1 << 63, 1) == 1
    assert rotate(0b11, -1) == 1 << 63 | 1


def test_the_table_forbids_the_slots_of_partners() -> None:
    one, two = hot(0), {**hot(1), "by_slot": [5, 0, 5]}
    found = conflicts_of([one, two], [[1, 2, 200, 200, 10]])
    assert table_mask(found, [1]) == ALL_SLOTS & ~0b101
    assert table_mask(found, [2]) == ALL_SLOTS, "nothing conflicts with it"
