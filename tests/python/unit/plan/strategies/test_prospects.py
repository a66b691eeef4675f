"""Cheap tests of whether plans of a strategy could matter: both sides of each."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from halo.base.errors import BadInput
from halo.plan.layout import MAX_OBJECT_LIMIT
from halo.plan.strategies.base import Prospect, clause
from halo.plan.strategies.factory import make_grouping, subject_of
from halo.record.profile import OBJECT_TRACE, ObjectTrace, Profile, profile_json
from halo.record.profile.reader import parse_profile
from halo.studies.conflicts import strategy as conflict
from halo.studies.pollution import strategy as confine
from halo.studies.pollution.locality.document import Locality
from halo.studies.search import strategy as search
from halo.studies.search.draft import Draft
from halo.studies.search.search import Cost, Found
from support.samples.conflicts import conflicts_document, machine, state
from support.samples.locality import LINES, context, locality
from support.samples.plan import Sample

LARGE = MAX_OBJECT_LIMIT + 1


def test_a_sentence_becomes_a_clause() -> None:
    assert clause("No context pollutes: 3% of 1.5 GB.") == "no context pollutes: 3% of 1.5 GB"
    assert clause("") == ""


@pytest.mark.parametrize("test", [conflict.prospect, search.prospect, confine.prospect])
def test_a_test_needs_what_its_strategy_needs(test: Callable[..., Prospect]) -> None:
    sample = Sample()
    sample.add([1], accesses=5)
    with pytest.raises(BadInput, match="record it with: halo record"):
        test(subject_of(sample.profile()))


def with_conflicts(states: Sequence[dict[str, Any]], line: int = 64) -> Profile:
    sample = Sample()
    for stack in ([1, 9], [2, 9], [3, 8]):
        sample.add(stack)
    document = json.loads(json.dumps(profile_json(sample.profile())))
    pairs = [[at, at, 2 * it["conflict"], 2 * it["conflict"], 0] for at, it in enumerate(states)]
    document["conflicts"] = {
        **conflicts_document(),
        "machine": machine(line=line),
        "states": list(states),
        "pairs": [pair for pair in pairs if pair[2]],
    }
    return parse_profile(document, "sample")


@pytest.mark.parametrize(
    ("of_objects", "outside", "line", "expected"),
    [
        (0, 0, 64, Prospect(False, "there are no conflict misses")),
        (4, 0, 64, Prospect(False, "only 0.40% of the misses are conflicts, less than 0.5%")),
        (6, 0, 64, Prospect(True, "0.60% of the first cache's misses are conflicts")),
        (0, 90, 64, Prospect(False, "the conflict misses are of memory that no plan moves, or of")),
        (90, 0, 32, Prospect(False, "the first cache of the recorded machine has lines of 32 byt")),
    ],
)
def test_conflicts_are_worth_placing_if_they_are_many_and_of_objects(
    of_objects: int, outside: int, line: int, expected: Prospect
) -> None:
    capacity = 1000 - of_objects - outside
    states = [state(None, 0, capacity=capacity, conflict=outside)]
    states.append(state(0, 64, conflict=of_objects, reuses=10))
    found = conflict.prospect(subject_of(with_conflicts(states, line)))
    assert found.could_matter == expected.could_matter
    assert found.why.startswith(expected.why)


def test_conflicts_are_worth_placing_where_the_strategy_finds_groups() -> None:
    """The strategy itself is the reference."""
    chance = random.Random(3)
    answers = []
    for _ in range(200):
        states = [state(None, 0, conflict=chance.choice([0, 1, 50]), capacity=2000)]
        states += [
            state(
                at,
                chance.choice([64, 128, 4096]),
                conflict=chance.choice([0, 3, 8, 15, 200]),
                reuses=10,
                far=chance.choice([0, 640]),
                peak=chance.choice([1, 50]),
            )
            for at in range(3)
        ]
        profile = with_conflicts(states)
        groups = make_grouping(profile, "conflict").groups
        answers.append(conflict.prospect(subject_of(profile)).could_matter)
        assert answers[-1] == bool(groups)
    assert 20 < sum(answers) < 180


def traced(profile: Profile) -> Profile:
    numbers = tuple((at, at) for at in range(len(profile.contexts)))
    return replace(profile, sections={OBJECT_TRACE.key: ObjectTrace("x.objects", numbers, 9)})


def hot_contexts() -> Profile:
    sample = Sample()
    for at in range(4):
        sample.add([0x10 * (at + 1), 0x99], accesses=100 * (at + 1), allocations=5)
    sample.edge(0, 1, 500)
    return traced(sample.profile())


def predict(monkeypatch: pytest.MonkeyPatch, costs: Callable[[Draft, bool], float]) -> list[int]:
    """Replaces replays by these costs, by draft and whether the whole trace counts.

    Returns the numbers of drafts that are compared by the whole trace.
    """
    compared: list[int] = []

    def work(
        _: object, __: str, steps: int, most: int, work: Callable[[Cost], list[Found]]
    ) -> list[Found]:
        is_whole = most == search._MAX_KEPT
        if is_whole:
            compared.append(steps)
        return work(lambda drafts: [costs(draft, is_whole) for draft in drafts])

    monkeypatch.setattr(search, "_predicting", work)
    return compared


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        (1000.0, Prospect(False, "save 0.0% of the modelled cycles of misses and allocations")),
        (1400.0, Prospect(False, "save 0.0% of the modelled cycles of misses and allocations")),
        (991.0, Prospect(False, "save 0.9% of the modelled cycles of misses and allocations")),
        (989.0, Prospect(True, "save 1.1% of the modelled cycles of misses and allocations")),
        (300.0, Prospect(True, "save 70.0% of the modelled cycles of misses and allocations")),
    ],
)
def test_a_search_is_worth_it_if_other_groups_save_modelled_cycles(
    monkeypatch: pytest.MonkeyPatch, least: float, expected: Prospect
) -> None:
    """The best of them decides; what a sample of the trace shows does not count."""

    def costs(draft: Draft, is_whole: bool) -> float:
        if not draft.groups:
            return 1000.0
        return (least if len(draft.groups) == 4 else max(least, 1500.0)) if is_whole else 1.0

    predict(monkeypatch, costs)
    found = search.prospect(subject_of(hot_contexts()))
    assert found.could_matter == expected.could_matter
    under = "" if expected.could_matter else ", less than 1%"
    assert found.why == f"the groups of other strategies {expected.why}{under}"


def test_a_search_needs_contexts_that_may_be_grouped() -> None:
    sample = Sample()
    sample.add([0x10], accesses=9, sizes=[(100_000, 3)])
    sample.add([0x20], accesses=0)
    found = search.prospect(subject_of(traced(sample.profile())))
    assert found == Prospect(False, "no context that may be grouped has accesses")


def test_a_search_after_its_test_compares_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its groups are those with the least cost by the whole trace, of all that are compared."""

    def costs(draft: Draft, is_whole: bool) -> float:
        if not draft.groups:
            return 1e9
        return random.Random(f"{draft} {is_whole}").uniform(1, 100)

    whole: dict[Draft, float] = {}

    def noted(draft: Draft, is_whole: bool) -> float:
        found = costs(draft, is_whole)
        if is_whole:
            assert draft not in whole
            whole[draft] = found
        return found

    compared = predict(monkeypatch, noted)
    profile = hot_contexts()
    assert search.prospect(subject_of(profile)).could_matter
    groups = make_grouping(profile, "search", {"drafts": "60"}).groups
    best = min(whole, key=lambda draft: whole[draft])
    assert [(it.contexts, it.layout) for it in groups] == [
        (it.contexts, it.layout) for it in best.groups
    ]
    assert len(compared) == 2 and sum(compared) == len(whole)


def with_sizes(*sizes: int) -> Profile:
    sample = Sample()
    for at, size in enumerate(sizes):
        sample.add([0x10 * (at + 1)], accesses=9, sizes=[(24, 1), (size, 1)])
    return traced(sample.profile())


@pytest.mark.parametrize(
    ("sizes", "found", "expected"),
    [
        ((24, 4096), None, Prospect(False, "the contexts have no objects over 65,536 bytes")),
        (
            (LARGE,),
            locality(context(LINES, LINES)),
            Prospect(False, "the last-level cache has 1,024 misses, not more than it has lines"),
        ),
        (
            (LARGE,),
            locality(context(90 * LINES, 100 * LINES), outside=91 * LINES),
            Prospect(False, "memory outside objects has 50% of the misses"),
        ),
        (
            (LARGE, 24),
            locality(context(89 * LINES, 100 * LINES), context(5 * LINES, 5 * LINES)),
            Prospect(False, "no context pollutes the last-level cache: those that miss nearly alw"),
        ),
        (
            (LARGE, 24),
            locality(context(10, 1000 * LINES), context(90 * LINES, 90 * LINES)),
            Prospect(False, "the contexts that pollute the last-level cache have no objects over"),
        ),
        (
            (24, LARGE),
            locality(context(10, 1000 * LINES), context(90 * LINES, 90 * LINES)),
            Prospect(True, "1 context pollutes the last-level cache, with 100% of all misses"),
        ),
    ],
)
def test_confinement_is_worth_it_if_contexts_with_large_objects_pollute(
    monkeypatch: pytest.MonkeyPatch,
    sizes: tuple[int, ...],
    found: Locality | None,
    expected: Prospect,
) -> None:
    """Without large objects, nothing is replayed."""

    def replay(*_: object) -> Locality:
        assert found is not None
        return found

    monkeypatch.setattr(confine, "_locality", replay)
    profile = with_sizes(*sizes)
    prospect = confine.prospect(subject_of(profile))
    assert prospect.could_matter == expected.could_matter
    assert prospect.why.startswith(expected.why)
    if expected.could_matter:
        plan = make_grouping(profile, "confine", {"watched": "false"})
        assert [group.contexts for group in plan.groups] == [(1,)]
