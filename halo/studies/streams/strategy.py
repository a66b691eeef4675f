"""Hot data streams: the technique that HALO is compared with (HALO, sections 2.2.3 and 5.1).

Chilimbi and Shaham, "Cache-conscious Coallocation of Hot Data Streams" (PLDI 2006): call sites
whose objects are accessed repeatedly in the same order share a pool. The sets of sites are an
approximate solution of weighted set packing. The immediate caller of malloc identifies a group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from halo.base.errors import BadInput
from halo.plan.options import option
from halo.plan.strategies.base import ProposedGroup, Strategy, StrategyInput
from halo.record.profile import HOT_STREAMS, CoAllocationSet


@dataclass(frozen=True)
class Options:
    max_groups: int = option(256, "maximum number of groups", 1, 4096)


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """A group for each chosen set: all contexts whose innermost frame is one of its sites.

    Raises `BadInput` if the profile was recorded without hot data streams.
    """
    profile = subject.profile
    streams = HOT_STREAMS.of(profile)
    if streams is None:
        raise BadInput("The profile has no hot data streams; record it with --hot-streams.")
    contexts_of: defaultdict[int, list[int]] = defaultdict(list)
    for context in range(len(profile.contexts)):
        contexts_of[next(profile.stack(context), -1)].append(context)
    return [
        ProposedGroup(
            [context for site in chosen.sites for context in contexts_of[site]],
            f"{chosen.streams} hot data streams of {len(chosen.sites)} call sites would touch"
            f" {chosen.saved} cache lines less",
        )
        for chosen in pack(streams.sets)[: options.max_groups]
    ]


def pack(sets: Iterable[CoAllocationSet]) -> list[CoAllocationSet]:
    """Disjoint sets that save many cache lines, chosen greedily by savings over root of size.

    The savings are within a factor of the root of the number of sites of the optimum (Halldórsson,
    "Approximations of Weighted Independent Set and Hereditary Subset Problems", COCOON 1999).
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
    "call sites whose objects form hot data streams",
    Options,
    group,
    needs=HOT_STREAMS,
)
