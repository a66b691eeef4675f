"""The document of `halo merge`: the inputs of a profile, and how well they agree."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from halo.base.schema.values import Count, Positive, Share

FORMAT, VERSION = "halo-merge", 1


class PlanCoverage(Struct, frozen=True, kw_only=True):
    """What a plan covers of an input."""

    affinity: Share  # of the weight of edges, those inside a group
    accesses: Share  # of the accesses, those to objects of groups
    allocations: Share  # of the allocations, those of groups


class InputScore(Struct, frozen=True, kw_only=True):
    """An input under plans of the strategy `halo`."""

    others: PlanCoverage  # under the plan from the other inputs
    all: PlanCoverage  # under the plan from all inputs
    own: PlanCoverage  # under the plan from this input
    kept: Share | None  # affinity under `others` over that under `own`; `null`: that is 0


class MergedInput(Struct, frozen=True, kw_only=True):
    """A profile that was merged."""

    profile: str  # its path
    arguments: tuple[str, ...]  # of the program
    accesses: Count  # macro-level accesses
    weight: Positive  # as given
    repeats: Count  # how often each of its counts counts
    score: InputScore | UnsetType = UNSET  # only with `--score`


class LeftOutSection(Struct, frozen=True, kw_only=True):
    """A section that the merged profile does not have."""

    section: str  # its key
    reason: str  # a sentence


class ContextsApart(Struct, frozen=True, kw_only=True):
    """Contexts that go through libraries of which the inputs have unlike builds."""

    libraries: tuple[str, ...]  # file names without `.so`
    contexts: Count  # number of these contexts
    accesses: Share  # of all accesses


class MergeDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo merge --json`."""

    format: str = FORMAT  # `halo-merge`
    version: int = VERSION  # 1
    program: str  # its path
    output: str | None  # the merged profile; `null`: none was written
    inputs: tuple[MergedInput, ...]  # in the order given
    contexts: Count  # of the merged profile
    left_out: tuple[LeftOutSection, ...]  # in the order of the profile
    apart: ContextsApart | None  # `null`: there are none
    agreement: str | UnsetType = UNSET  # one sentence; only with `--score`
