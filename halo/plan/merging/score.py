"""The leave-one-out score: how well a plan from the other inputs serves each input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halo.binary.alignment import Proof, unproved
from halo.plan import Plan, build_plan
from halo.plan.layout import VERDICT_FORWARD
from halo.plan.merging.inputs import Input, alike, merge_alike
from halo.plan.strategies.factory import make_grouping
from halo.plan.walk import Walker
from halo.record.profile import Profile
from halo.record.profile.call_stacks import call_stacks

STRATEGY = "halo"
"""The default of `halo plan`."""
AGREE = 0.8
"""Inputs agree if the others' plans cover at least this part of what each own plan covers."""


@dataclass(frozen=True)
class Covered:
    """The shares of an input, 0 to 1, that a plan covers.

    `affinity` is of the weight of all edges: that of edges between contexts of one group.
    `accesses` and `allocations` are those of contexts that the plan recognises as a group's.
    """

    affinity: float
    accesses: float
    allocations: float


@dataclass(frozen=True)
class Score:
    """An input under three plans: of the other inputs, of all, and of its own."""

    others: Covered
    all: Covered
    own: Covered

    @property
    def kept(self) -> float | None:
        """The others' affinity over its own, at most 1; None if its own plan covers none."""
        return min(1.0, self.others.affinity / self.own.affinity) if self.own.affinity else None


def score_inputs(inputs: Sequence[Input]) -> list[Score]:
    """The score of each of at least two inputs, by plans of the strategy `halo`.

    Raises `BadInput` as `merge_inputs`.
    """
    found, _ = alike(inputs)
    whole = _plan_of(found)
    return [
        Score(
            others=covered(_plan_of([*found[:at], *found[at + 1 :]]), one.profile),
            all=covered(whole, one.profile),
            own=covered(_plan_of([one]), one.profile),
        )
        for at, one in enumerate(found)
    ]


def covered(plan: Plan, profile: Profile) -> Covered:
    """The shares of a profile that a plan for the same build covers."""
    walker, contexts = Walker(plan), profile.contexts
    groups = [
        walker.identify(stack.sites).verdict
        if context.allocations and context.min_size <= plan.max_object
        else VERDICT_FORWARD
        for context, stack in call_stacks(profile)
    ]
    served = [context for context, group in zip(contexts, groups, strict=True) if _is_group(group)]
    within = [
        weight for a, b, weight in profile.edges if groups[a] == groups[b] and _is_group(groups[a])
    ]
    return Covered(
        affinity=_share(sum(within), sum(weight for _, _, weight in profile.edges)),
        accesses=_share(sum(it.accesses for it in served), profile.accesses),
        allocations=_share(
            sum(it.allocations for it in served), sum(it.allocations for it in contexts)
        ),
    )


def judge(scores: Sequence[Score], names: Sequence[str]) -> str:
    """One sentence: whether the inputs agree, or which ones are unlike the others."""
    kept = [(score.kept, name) for score, name in zip(scores, names, strict=True)]
    known = [(share, name) for share, name in kept if share is not None]
    unlike = [(share, name) for share, name in known if share < AGREE]
    if not known:
        return (
            "It is unknown whether the inputs agree: of no input, a plan of its own covers any"
            " affinity."
        )
    if not unlike:
        return (
            f"The inputs agree: plans from the other inputs cover {_span(known)} of the affinity"
            " that each input's own plan covers."
        )
    if len(unlike) == len(kept):
        return (
            f"The inputs are unlike each other: plans from the other inputs cover {_span(unlike)}"
            " of the affinity that each input's own plan covers."
        )
    one = len(unlike) == 1
    return (
        f"{', '.join(name for _, name in unlike)} {'is' if one else 'are'} unlike the other inputs:"
        f" plans from those cover {_span(unlike)} of the affinity that {'its' if one else 'their'}"
        f" own plan{'' if one else 's'} cover{'s' if one else ''}."
    )


def _span(found: Sequence[tuple[float, str]]) -> str:
    shares = sorted(round(100 * share) for share, _ in found)
    low, high = shares[0], shares[-1]
    return f"{low} %" if low == high else f"{low} to {high} %"


def _plan_of(inputs: Sequence[Input]) -> Plan:
    profile = inputs[0].profile if len(inputs) == 1 else merge_alike(inputs).profile
    return build_plan(profile, make_grouping(profile, STRATEGY), prove=_without_proof)


def _without_proof(profile: Profile, trust_loaded: bool) -> Proof:
    """Which group a context is in does not depend on the alignment of blocks."""
    return unproved("not asked")


def _is_group(verdict: int) -> bool:
    return verdict < VERDICT_FORWARD


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
