"""Return addresses that walks need, against the definition: context by context."""

from __future__ import annotations

import random

from halo.studies.search.draft import Draft, make_draft
from halo.studies.search.walks import Walks

Stacks = list[tuple[int, ...]]


def reference(stacks: Stacks, allocations: list[int], draft: Draft) -> int:
    group = {at: number for number, it in enumerate(draft.groups) for at in it.contexts}
    steps = 0
    for at, stack in enumerate(stacks):
        depth = 1
        while depth <= max(map(len, stacks)) and any(
            other[:depth] == stack[:depth] and group.get(place) != group.get(at)
            for place, other in enumerate(stacks)
        ):
            depth += 1
        steps += (depth - 1) * allocations[at]
    return steps


def test_steps_are_those_of_the_definition() -> None:
    chance = random.Random(1)
    for _ in range(200):
        stacks = [
            tuple(chance.randrange(3) for _ in range(chance.randint(1, 4))) for _ in range(12)
        ]
        stacks = list(dict.fromkeys(stacks))
        allocations = [chance.randrange(100) for _ in stacks]
        places = list(range(len(stacks)))
        chance.shuffle(places)
        draft = make_draft([(places[:3], None), (places[3:5], None)])
        found = Walks(stacks, allocations).further_steps(draft)
        assert found == reference(stacks, allocations, draft)


def test_the_caller_alone_needs_no_step() -> None:
    walks = Walks([(1, 9), (1, 8), (2, 9)], [5, 7, 11])
    assert walks.further_steps(make_draft([((0, 1), None)])) == 0
    assert walks.further_steps(make_draft([((0,), None)])) == 12
    assert walks.further_steps(make_draft([])) == 0
    assert Walks([], []).further_steps(make_draft([])) == 0
