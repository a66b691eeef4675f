"""The reviewable part of a plan: groups with the stacks of their hottest contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import nsmallest
from itertools import islice

from halo.plan.grouping import Group, Grouping
from halo.plan.model import GroupReview, Member, Others
from halo.plan.review.ids import context_ids
from halo.record.profile import Profile, name_frames

DETAILED = 16
"""Contexts of a group that are described; the others are ids in the profile."""
MAX_DETAILED = 4096
"""Described contexts of a plan; with more groups than that, each has one."""
MAX_FRAMES = 1 << 16
"""Frames in the described stacks of a plan."""
MAX_SIZES = 16

NameSource = Callable[[Profile, Iterable[int]], Mapping[int, str]]
"""The names of frames, by id."""


def review_groups(
    profile: Profile, grouping: Grouping, maximum: int, names: NameSource = name_frames
) -> tuple[GroupReview, ...]:
    """The groups with their hottest contexts, and up to `maximum` frames of each stack."""
    detailed = max(1, min(DETAILED, MAX_DETAILED // max(1, len(grouping.groups))))
    hottest = [_hottest(profile, group, detailed) for group in grouping.groups]
    described = sum(map(len, hottest))
    deepest = min(maximum, MAX_FRAMES // max(1, described))
    chains = {at: list(profile.stack(at)) for members in hottest for at in members}
    shown = {frame for chain in chains.values() for frame in chain[:deepest]}
    named = names(profile, shown)
    stacks = {at: _stack(chain, named, deepest) for at, chain in chains.items()}
    return tuple(
        GroupReview(
            group.reason,
            group.coverage,
            group.weight,
            tuple(_member(profile, at, stacks[at]) for at in members),
            group.conflicts,
            _others(profile, group, set(members)),
        )
        for group, members in zip(grouping.groups, hottest, strict=True)
    )


def _hottest(profile: Profile, group: Group, count: int) -> list[int]:
    """The group's contexts with the most accesses, the hottest first."""
    return nsmallest(count, group.contexts, key=lambda at: (-profile.contexts[at].accesses, at))


def _stack(chain: list[int], names: Mapping[int, str], maximum: int) -> tuple[str, ...]:
    stack = [names[frame] for frame in islice(chain, maximum)]
    if len(chain) > maximum:
        stack.append(f"… {len(chain) - maximum} more")
    return tuple(stack)


def _member(profile: Profile, at: int, stack: tuple[str, ...]) -> Member:
    context = profile.contexts[at]
    sizes = context.sizes[:MAX_SIZES]
    return Member(at, context.accesses, context.allocations, sizes, stack)


def _others(profile: Profile, group: Group, described: set[int]) -> Others:
    rest = [at for at in group.contexts if at not in described]
    return Others(context_ids(rest), sum(profile.contexts[at].accesses for at in rest))
