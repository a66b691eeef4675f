"""Groupings of a profile that is carried over to another build of the program."""

from __future__ import annotations

from dataclasses import replace

from halo.plan.grouping import Grouping
from halo.record.transfer import Carried


def carried_grouping(carried: Carried, old: Grouping) -> Grouping:
    """The grouping of `unified` as one of `profile`, without groups that lost all contexts."""
    groups = []
    for group in old.groups:
        members = sorted(new for context in group.contexts for new in carried.became[context])
        if members or old.at_random:
            groups.append(replace(group, contexts=tuple(members)))
    return replace(old, groups=tuple(groups))


def renumbered(carried: Carried, old: Grouping) -> Grouping:
    """A grouping of the old profile as one of `unified`; merged contexts are in one group."""
    taken: set[int] = set()
    groups = []
    for group in old.groups:
        members = sorted({carried.numbers[context] for context in group.contexts} - taken)
        taken.update(members)
        groups.append(replace(group, contexts=tuple(members)))
    return replace(old, groups=tuple(groups))
