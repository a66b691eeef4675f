"""What-if search: the grouping with the fewest modelled cycles."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from halo.studies.search.draft import Draft, neighbours

Cost = Callable[[Sequence[Draft]], Sequence[float]]
"""The costs of drafts, in their order; the lower the better."""


@dataclass(frozen=True)
class Effort:
    """The bounds of a search: drafts whose cost is asked for, and those in one round.

    A round that lowers the cost by less than `least`, as a share, is the last one.
    """

    drafts: int = 600
    batch: int = 48
    max_groups: int = 8
    least: float = 0.0005


@dataclass(frozen=True)
class Found:
    """A draft and its cost."""

    cost: float
    draft: Draft


def search(
    seeds: Iterable[Draft], hot: Sequence[int], cost: Cost, effort: Effort, seed: int = 0
) -> list[Found]:
    """All drafts whose cost was asked for, the best first.

    Local search from the best two seeds: each round asks for the costs of a random batch of the
    best draft's neighbours, until a whole neighbourhood has no better one. `hot` contexts are moved
    alone. The result depends on nothing but the arguments.
    """
    known: dict[Draft, float] = {}
    chance = random.Random(seed)

    def ask(drafts: Iterable[Draft]) -> None:
        new = [draft for draft in dict.fromkeys(drafts) if draft not in known]
        known.update(zip(new, cost(new), strict=True))

    ask(seeds)
    for start in [it.draft for it in _ranked(known)][:2]:
        now = start
        while len(known) < effort.drafts:
            around = [it for it in neighbours(now, hot, effort.max_groups) if it not in known]
            chance.shuffle(around)
            better = _better(now, around, known, ask, effort)
            if better is None:
                break
            now = better
    return _ranked(known)


def one_of_each_first(found: Sequence[Found], seeds: Iterable[Draft]) -> list[Found]:
    """All of `found`, in their order, but the first of each origin before the others.

    The origins are the groupings of the seeds, each in all layouts, and the local search. So the
    first few differ by more than a move.
    """
    origins = {seed: tuple(group.contexts for group in seed.groups) for seed in seeds}
    first = {origins.get(it.draft): it for it in reversed(found)}
    chosen = {it.draft for it in first.values()}
    return sorted(found, key=lambda it: it.draft not in chosen)


def _better(
    now: Draft,
    around: Sequence[Draft],
    known: dict[Draft, float],
    ask: Callable[[Iterable[Draft]], None],
    effort: Effort,
) -> Draft | None:
    """The best draft of the first batch that has one that is better by `effort.least`."""
    limit = known[now] * (1 - effort.least)
    for first in range(0, len(around), effort.batch):
        if len(known) >= effort.drafts:
            return None
        batch = around[first : first + effort.batch]
        ask(batch)
        best = min(batch, key=lambda draft: known[draft])
        if known[best] < limit:
            return best
    return None


def _ranked(known: dict[Draft, float]) -> list[Found]:
    found = [Found(cost, draft) for draft, cost in known.items()]
    return sorted(found, key=lambda it: (it.cost, len(it.draft.groups), str(it.draft)))
