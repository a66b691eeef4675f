"""Which states are placed, in which slots, and what is predicted of them."""

from __future__ import annotations

import math
import time
from random import Random
from typing import Any

import pytest
from msgspec import convert
from msgspec.structs import replace

from halo.plan.model import ALL_SLOTS, PageLayout
from halo.record.profile import Conflicts
from halo.studies.conflicts.placement import (
    competing,
    is_stream,
    layout_of,
    may_be_placed,
    place,
    rotate,
    table_mask,
)
from halo.studies.conflicts.prediction import Prediction
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
    assert placed.predicted is not None and 0.5 * 640 < placed.predicted < 640


PAIRS_APART = [[1, 1, 400, 400, 9000], [2, 2, 400, 400, 1000], [2, 1, 0, 0, 24000]]


def test_windows_keep_the_blocks_of_one_state_from_the_lines_of_another() -> None:
    """240 lines of the first, and 10 of the second, overfill sets of four ways in all slots.

    In half of the slots, the first has 90 lines between its own uses, which is not too many.
    """
    states = [hot(at, 4096, reuses=100) for at in range(2)]
    found = conflicts_of(states, PAIRS_APART, ways=4)
    one, two = place(found, [[1], [2]])
    assert one.layout.starts & two.layout.starts == 0
    assert (one.predicted, two.predicted) == (0.0, 0.0)
    masks = {1: ALL_SLOTS, 2: ALL_SLOTS}
    assert slow_misses(found, masks, 1) == 0 < slow_misses(found, masks, 2)


def test_a_window_that_gains_little_is_not_chosen() -> None:
    """A third state keeps its misses, and the others have less than a twentieth of all."""
    states = [hot(0, 4096, reuses=100), hot(1, 4096, reuses=100), hot(2, reuses=10000)]
    pairs = [*PAIRS_APART, [3, 3, 400, 400, 2500000]]
    found = conflicts_of(states, pairs, ways=4)
    assert {one.layout.starts for one in place(found, [[1], [2], [3]])} == {ALL_SLOTS}


def test_no_window_is_chosen_for_a_group_with_smaller_blocks() -> None:
    """Those would take the memory of all slots, and have blocks in a few of them."""
    states = [hot(0, 4096, reuses=100), hot(1, 4096, reuses=100), state(0, 64), state(1, 64)]
    found = conflicts_of(states, PAIRS_APART, ways=4)
    assert {one.layout.starts for one in place(found, [[1, 3], [2, 4]])} == {ALL_SLOTS}


def slow_misses(conflicts: Conflicts, masks: dict[int, int], at: int) -> float:
    """The predicted misses of a state, slot by slot; all states that are not in `masks` spread."""
    ways, missed = conflicts.cache.ways, 0.0
    mine = [slot for slot in range(64) if masks.get(at, ALL_SLOTS) >> slot & 1]
    for slot in mine:
        load = 0.0
        for (first, second), lines in conflicts.interference.items():
            mask = masks.get(second, ALL_SLOTS)
            if first == at and mask >> slot & 1:
                other = conflicts.states[second]
                if second:
                    lines = min(lines, other.peak * max(1, other.hot_lines))
                load += lines / mask.bit_count() / (conflicts.cache.sets / 64)
        if load > ways - 1:
            poisson = [math.exp(-load) * load**n / math.factorial(n) for n in range(ways)]
            missed += 1 - sum(poisson)
    return conflicts.states[at].reuses * conflicts.sampling * missed / len(mine)


@pytest.mark.parametrize("seed", range(5))
def test_predictions_equal_a_slow_reference(seed: int) -> None:
    random = Random(seed)
    states = [hot(at, 64, reuses=100, peak=random.choice([5, 1000])) for at in range(6)]
    pairs = [
        [first, second, 1, 1, random.randrange(20000)]
        for first in range(1, 7)
        for second in range(7)
        if random.random() < 0.7
    ]
    found = conflicts_of(states, pairs, sets=128, ways=3)
    parts = [[1, 2], [3], [5, 6]]
    model, masks = Prediction(found, parts), dict.fromkeys([1, 2, 3, 5, 6], ALL_SLOTS)
    for _ in range(10):
        part, mask = random.randrange(3), random.getrandbits(64) | 1
        model.set_mask(part, mask)
        masks |= dict.fromkeys(parts[part], mask)
        slow = [sum(slow_misses(found, masks, at) for at in members) for members in parts]
        assert [model.misses_of(at) for at in range(3)] == pytest.approx(slow)
        assert model.total() == pytest.approx(sum(slow))


def test_many_wide_groups_are_placed_soon() -> None:
    """Each of 80 groups interferes with all others, and has 33 choices."""
    states = [hot(at, 4096) for at in range(80)]
    pairs = [[a, b, 2, 2, 40] for a in range(1, 81) for b in range(1, 81)]
    found = conflicts_of(states, pairs, ways=2)
    before = time.process_time()
    assert len(place(found, [[at] for at in range(1, 81)])) == 80
    assert time.process_time() - before < 20


def test_a_state_has_at_most_its_hot_lines_between_uses() -> None:
    """127 lines were recorded between uses, but the 60 objects have a single hot line each."""
    found = conflicts_of([hot(0, peak=60, by_line=[99, 1])], [[1, 1, 200, 200, 1270]])
    (placed,) = place(found, [[1]])
    assert placed.predicted == 0.0


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


def test_the_state_with_the_most_accesses_says_where_blocks_start() -> None:
    second = hot(1, 256, by_line=[0, 0, 9, 1], accesses=99)
    states = [hot(0, 256), second, hot(2, 256)]
    assert layout_of(conflicts_of(states, []), [1, 2, 3], 1 << 5).starts == 1 << 3


@pytest.mark.parametrize(("peak", "line_start"), [(10, True), (4000, False)])
def test_blocks_of_other_sizes_are_not_rounded_up_to_lines(peak: int, line_start: bool) -> None:
    """Blocks of 24 bytes waste 40 each; in 10 of them that is little beside 1000 of 240."""
    states = [hot(0, 240, by_line=[99, 1]), state(0, 24, peak=peak)]
    found = conflicts_of(states, [])
    assert layout_of(found, [1, 2], ALL_SLOTS).line_start is line_start


@pytest.mark.parametrize("left_out", [0, 1])
def test_blocks_of_unknown_sizes_are_not_rounded_up_to_lines(left_out: int) -> None:
    states = [hot(0, 240, by_line=[99, 1])] + [state(0, 0)] * (1 - left_out)
    found = replace(conflicts_of(states, []), states_left_out=left_out)
    part = list(range(1, len(found.states)))
    assert not layout_of(found, part, ALL_SLOTS).line_start


def test_without_a_limit_states_need_a_conflict() -> None:
    found = conflicts_of(
        [hot(0), hot(1, conflict=0), hot(2, conflict=0)], [[1, 1, 200, 200, 10], [1, 2, 0, 0, 10]]
    )
    assert competing(found, 0.0) == [[1]]


def test_a_context_whose_memory_is_mostly_a_stream_is_left_alone() -> None:
    """Its other state would share pages with the stream, and the stream would be spread."""
    few, many = state(0, 128, far=9, peak=10), state(0, 128, far=9, peak=1000)
    assert competing(conflicts_of([hot(0), few], []), 0.005) == [[1]]
    assert competing(conflicts_of([hot(0), many], []), 0.005) == []
    large = state(0, 4096, far=9, peak=1000)
    assert competing(conflicts_of([hot(0), large], []), 0.005) == [[1]], "it is forwarded"


def test_masks_rotate_around_the_way() -> None:
    assert rotate(1, 63) == 1 << 63
    assert rotate(1 << 63, 1) == 1
    assert rotate(0b11, -1) == 1 << 63 | 1


def test_the_table_forbids_the_slots_of_partners() -> None:
    one, two = hot(0), {**hot(1), "by_slot": [5, 0, 5]}
    found = conflicts_of([one, two], [[1, 2, 200, 200, 10]])
    assert table_mask(found, [1]) == ALL_SLOTS & ~0b101
    assert table_mask(found, [2]) == ALL_SLOTS, "nothing conflicts with it"
