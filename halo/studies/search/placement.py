"""Where a plan places the objects of each context: the input of `halo-predict`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from halo.plan import Plan
from halo.plan.compact import group_flags
from halo.plan.layout import VERDICT_FORWARD
from halo.plan.model import PlanGroup
from halo.plan.walk import Walker
from halo.record.profile import ObjectTrace, Profile

_ABI = 16


@dataclass(frozen=True)
class Verdict:
    """The group of a context's objects, and the alignment of its blocks, 8 or 16 bytes."""

    group: int
    align16: bool = False


@dataclass(frozen=True)
class Placement:
    """The groups of a plan, and the verdicts by context of the profile; others are forwarded.

    `every` is the verdict of all contexts, if callers do not matter. `max_object` is in bytes.
    """

    groups: Sequence[PlanGroup]
    verdicts: Mapping[int, Verdict]
    max_object: int
    every: Verdict | None = None

    def line(self, name: str, trace: ObjectTrace) -> str:
        """The form of src/studies/search/candidate.h; contexts have the numbers of the trace."""
        words = [name, str(self.max_object), str(len(self.groups))]
        for group in self.groups:
            flags, starts = group_flags(group)
            words.append(f"{flags}:{group.reuse}:{starts}")
        words.append(_word(self.every))
        if self.every is None:
            numbers = {number: context for context, number in trace.contexts}
            words += (
                _word(self.verdicts.get(numbers.get(at, -1)))
                for at in range(max(numbers, default=-1) + 1)
            )
        return " ".join(words)


NOWHERE = Placement((), {}, 0)
"""No plan: every object is where it was recorded."""


def placement_of(plan: Plan, profile: Profile) -> Placement | None:
    """The placement by a plan; None if it draws groups at random or uses selectors."""
    if plan.selectors is not None or (plan.at_random and len(plan.groups) > 1):
        return None
    if plan.at_random:
        every = Verdict(0, plan.states[0].alignment == _ABI)
        return Placement(plan.groups, {}, plan.max_object, every)
    walker, verdicts = Walker(plan), {}
    ids = [module.build_id for module in profile.modules]
    sites = [(ids[it.module] if it.module >= 0 else "", it.offset) for it in profile.frames]
    for context in range(len(profile.contexts)):
        walk = walker.identify([sites[frame] for frame in profile.stack(context)])
        if walk.verdict < VERDICT_FORWARD:
            aligned = plan.states[walk.state].alignment
            if aligned <= _ABI:
                verdicts[context] = Verdict(walk.verdict, aligned == _ABI)
    return Placement(plan.groups, verdicts, plan.max_object)


def _word(verdict: Verdict | None) -> str:
    return "-" if verdict is None else f"{verdict.group}{'+' if verdict.align16 else ''}"
