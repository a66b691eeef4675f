"""Hot data streams: the technique that HALO is compared with (HALO, sections 2.2.3 and 5.1).

Chilimbi and Shaham 2006, "Cache-conscious Coallocation of Hot Data Streams": call sites whose
objects are touched again and again in the same order share a pool. Which sets of sites do is an
approximation of weighted set packing; an object's group is known by the immediate caller of malloc.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from halo.errors import BadInput
from halo.plan.options import option
from halo.profile import CoAllocationSet
from halo.strategies.base import Candidate, Strategy, Subject


@dataclass(frozen=True)
class Options:
    max_groups: int = option(256, "sets that get a group at most", 1, 4096)


def group(subject: Subject, options: Options) -> list[Candidate]:
    """A group for each chosen set: all contexts that end at one of its sites."""
    profile = subject.profile
    if profile.hot_streams is None:
        raise BadInput("The profile has no hot data streams; record it with --hot-streams.")
    contexts_of: defaultdict[int, list[int]] = defaultdict(list)
    for context in range(len(profile.contexts)):
        contexts_of[next(profile.stack(context), -1)].append(context)
    return [
        Candidate(
            [context for site in chosen.sites for context in contexts_of[site]],
            f"{chosen.streams} hot data streams of {len(chosen.sites)} call sites would touch"
            f" {chosen.saved} cache lines less",
        )
        for chosen in pack(profile.hot_streams.sets)[: options.max_groups]
    ]


def pack(sets: Iterable[CoAllocationSet]) -> list[CoAllocationSet]:
    """Disjoint sets that save much: greedily by what they save over the root of their size.

    That is within the root of the number of sites of the best choice (Halldórsson 1999,
    "Approximations of Weighted Independent Set and Hereditary Subset Problems").
    """
    taken: set[int] = set()
    chosen = []
    for item in sorted(sets, key=lambda item: (-item.saved / sqrt(len(item.sites)), item.sites)):
        if item.saved > 0 and taken.isdisjoint(item.sites):
            taken.update(item.sites)
            chosen.append(item)
    return chosen


STRATEGY = Strategy(
    "hot-streams",
    "call sites whose objects recur in one order, as hot data streams do",
    Options,
    group,
)
