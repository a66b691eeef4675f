"""The search over groupings, with costs that have a known best grouping."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from halo.plan.builder import largest_grouped
from halo.record.parts import MAX_TRACED
from halo.studies.search.draft import LAYOUTS, PACKED, SPREAD, Draft, Placer, make_draft, neighbours
from halo.studies.search.search import Effort, Found, one_of_each_first, search
from support.samples.plan import Sample, any_alignment

CONTEXTS = range(8)
WANTED = make_draft([((0, 3, 5), SPREAD), ((1, 2), None), ((6,), PACKED)])


def mistakes(draft: Draft) -> float:
    """Pairs of contexts that are together in one of the drafts only, and wrong layouts."""
    wanted, found = _labels(WANTED), _labels(draft)
    pairs = [(a, b) for a in CONTEXTS for b in CONTEXTS if a < b]
    apart = sum((wanted[a] == wanted[b]) != (found[a] == found[b]) for a, b in pairs)
    layouts = {it.contexts: it.layout for it in WANTED.groups}
    wrong = sum(layouts.get(it.contexts, it.layout) != it.layout for it in draft.groups)
    return 100 + apart + wrong / 4


def _labels(draft: Draft) -> list[tuple[int, ...]]:
    return [
        next((it.contexts for it in draft.groups if at in it.contexts), (-1,)) for at in CONTEXTS
    ]


def costs(drafts: Sequence[Draft]) -> list[float]:
    return [mistakes(draft) for draft in drafts]


@pytest.mark.parametrize(
    ("recorded", "asked", "expected"),
    [(4096, 0, 4096), (16384, 0, 16384), (MAX_TRACED, 0, 65536), (MAX_TRACED, 4096, 4096)],
)
def test_a_draft_places_the_objects_that_its_plan_would(
    recorded: int, asked: int, expected: int
) -> None:
    """Larger ones are forwarded, however large the recorded ones are."""
    profile = Sample(max_object=recorded).profile()
    placed = Placer(profile, asked, prove=any_alignment).place(make_draft([]))
    assert placed.max_object == expected == (asked or largest_grouped(profile))


def test_the_search_finds_the_best_grouping() -> None:
    seeds = [make_draft([]), make_draft([(CONTEXTS, None)])]
    found = search(seeds, CONTEXTS, costs, Effort(drafts=3000))
    assert found[0].draft == WANTED
    assert [it.cost for it in found] == sorted(it.cost for it in found)
    assert len({it.draft for it in found}) == len(found)


def test_the_same_seed_gives_the_same_search_and_the_effort_bounds_it() -> None:
    seeds = [make_draft([(CONTEXTS, SPREAD)])]
    effort = Effort(drafts=120, batch=16)
    one, two = (search(seeds, CONTEXTS, costs, effort, seed=7) for _ in range(2))
    assert one == two
    assert len(one) <= effort.drafts + effort.batch


def test_neighbours_differ_by_one_move_and_stay_disjoint() -> None:
    start = make_draft([((0, 1), None), ((2,), SPREAD)])
    around = list(neighbours(start, [0, 3], max_groups=3))
    assert start not in around
    for draft in around:
        members = [at for group in draft.groups for at in group.contexts]
        assert len(set(members)) == len(members)
        assert all(group.contexts for group in draft.groups)
        assert len(draft.groups) <= 3
    assert make_draft([((0, 1, 2), None)]) in around, "merged"
    assert make_draft([((1,), None), ((0, 2), SPREAD)]) in around, "moved to another group"
    assert make_draft([((1,), None), ((2,), SPREAD)]) in around, "forwarded"
    for layout in LAYOUTS:
        assert make_draft([*((it.contexts, it.layout) for it in start.groups), ((3,), layout)]) in (
            around
        )


def test_the_first_of_each_origin_precedes_its_like() -> None:
    pool, pool_packed = (make_draft([((0, 1, 2), layout)]) for layout in (SPREAD, PACKED))
    alone = make_draft([((0,), SPREAD), ((1,), SPREAD)])
    moved, moved_again = make_draft([((0, 1), SPREAD)]), make_draft([((0, 2), SPREAD)])
    costs_of = {moved: 1.0, moved_again: 2.0, pool: 3.0, pool_packed: 4.0, alone: 5.0}
    found = [Found(cost, draft) for draft, cost in costs_of.items()]
    ranked = one_of_each_first(found, [pool_packed, alone, pool])
    assert [it.draft for it in ranked] == [moved, pool, alone, moved_again, pool_packed]
