"""States and pairs of conflicts are ranked and summed up, and few conflicts are recognised."""

from __future__ import annotations

from typing import Any

import pytest

from halo.base.schema.document import convert
from halo.record.profile import Conflicts
from halo.record.profile.sections.conflicts import RecordedState
from halo.studies.conflicts.document import CompetingPair, MissesByClass
from halo.studies.conflicts.ranking import (
    conflict_share,
    conflicting_objects,
    is_placeable,
    missed,
    outside_share,
    ranked_pairs,
    ranked_states,
    slots_used,
)
from support.samples.conflicts import conflicts_document, state


def conflicts(**changes: Any) -> Conflicts:
    return convert({**conflicts_document(), **changes}, Conflicts)


def of_misses(*misses: tuple[int, int]) -> Conflicts:
    """Conflicts of states with these capacity and conflict misses; the first is outside."""
    contexts = (None, *range(len(misses) - 1))
    return conflicts(
        states=[
            state(context, 64, capacity=capacity, conflict=conflict)
            for context, (capacity, conflict) in zip(contexts, misses, strict=True)
        ],
        pairs=[],
    )


def test_misses_are_summed_up() -> None:
    found = conflicts()
    assert missed(found) == MissesByClass(compulsory=0, capacity=1, conflict=9)
    assert conflict_share(found) == 0.9
    assert outside_share(found) == pytest.approx(1 / 9)


def test_states_with_the_most_conflict_misses_come_first() -> None:
    found = of_misses((0, 3), (0, 7), (9, 3), (9, 0), (0, 0))
    assert ranked_states(found) == [1, 2, 0, 3, 4]
    assert conflicting_objects(found) == [1, 2]


def test_the_ways_of_a_set_share_a_miss() -> None:
    assert ranked_pairs(conflicts()) == [
        CompetingPair(first=2, second=1, misses=5, lines=0.5),
        CompetingPair(first=1, second=2, misses=3, lines=2),
        CompetingPair(first=0, second=0, misses=1, lines=0),
    ]


def test_all_pairs_add_up_to_the_conflict_misses() -> None:
    found = conflicts()
    assert sum(pair.misses for pair in ranked_pairs(found)) == missed(found).conflict


@pytest.mark.parametrize(
    ("capacity", "conflict", "placeable"),
    [(0, 0, False), (100, 0, False), (996, 4, False), (995, 5, True), (0, 1, True)],
)
def test_conflicts_below_the_limit_are_not_placeable(
    capacity: int, conflict: int, placeable: bool
) -> None:
    assert is_placeable(of_misses((0, 0), (capacity, conflict))) == placeable


def test_shares_without_misses() -> None:
    found = of_misses((0, 0))
    assert (conflict_share(found), is_placeable(found)) == (0, False)


def test_misses_by_slot_of_states_that_were_left_out_do_not_exceed_the_whole() -> None:
    assert outside_share(conflicts(outside_slots=[100], states_left_out=1)) == 1


@pytest.mark.parametrize(
    ("by_slot", "slots"),
    [([], 0), ([7], 1), ([90, 0, 10], 1), ([89, 0, 11], 2), ([1] * 64, 58), ([0, 0], 0)],
)
def test_slots_with_nine_tenths_of_the_uses(by_slot: list[int], slots: int) -> None:
    assert slots_used(RecordedState(**{**state(0, 64), "by_slot": tuple(by_slot)})) == slots
