"""What a measurement tries: plan variants, and deep analyses that are tested first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from halo.base.errors import UsageError
from halo.base.schema.summary import TriedAnalysis
from halo.measure.candidates import NONE, USUAL, PlanVariant
from halo.measure.deep.analysis import AnalysisNeeds, DeepAnalysis, limits_for
from halo.measure.racing.budget import Effort
from halo.plan.strategies.base import Prospect
from halo.plan.strategies.factory import strategy_named
from halo.record.parts import Limits
from halo.record.profile import Profile
from halo.record.sink_options import DISTANCE
from halo.registry import DEEP_ANALYSES as ENTRIES
from halo.registry import load

DEEP_ANALYSES: Sequence[DeepAnalysis] = load(ENTRIES)
VARIANTS = (*USUAL, *(variant for one in DEEP_ANALYSES for variant in one.variants))


@dataclass(frozen=True)
class Choice:
    """The variants to choose from, and the limits of the recording.

    `variants` are tried in any case. `named` are the analyses of some of them. Those of `tested`
    are tried as well if their test says that they could matter. `excluded` says by name why other
    analyses are not.
    """

    variants: Sequence[PlanVariant] = ()
    named: Sequence[DeepAnalysis] = ()
    tested: Sequence[DeepAnalysis] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)

    def without_recording(self) -> Choice:
        """The same without a profile: plans that place all small objects, whatever their caller."""
        lacking = {one.name: "nothing was recorded" for one in (*self.named, *self.tested)}
        return replace(
            self,
            variants=[it for it in self.variants if strategy_named(it.strategy).at_random],
            named=(),
            tested=(),
            excluded={**self.excluded, **lacking},
        )


@dataclass(frozen=True)
class Examined:
    """A deep analysis, and whether it is tried."""

    analysis: DeepAnalysis
    prospect: Prospect

    def outcome(self, made: Iterable[PlanVariant]) -> TriedAnalysis:
        """What the summary says about it, if these are the variants with a plan."""
        labels = {it.label for it in self.analysis.variants}
        plans = sum(it.label in labels for it in made)
        found = self.prospect
        return TriedAnalysis(self.analysis.name, found.could_matter, found.why, plans)


def choose_variants(names: Sequence[str]) -> list[PlanVariant]:
    """The variants of those strategies or labels; all if no name is given."""
    known = {variant.strategy for variant in VARIANTS} | {variant.label for variant in VARIANTS}
    unknown = [name for name in names if name not in known | {NONE}]
    if unknown:
        raise UsageError(
            f"The candidate '{unknown[0]}' does not exist; choose among:"
            f" {', '.join(sorted(known))}, none."
        )
    return [r for r in VARIANTS if not names or r.strategy in names or r.label in names]


def choose(
    names: Sequence[str], effort: Effort, recorded: int = 1, distance: int = int(DISTANCE.default)
) -> Choice:
    """What is tried by that effort, or the candidates of these names if there are any.

    `recorded`: the number of recorded inputs. `UsageError` for names that are unknown, or that need
    a single recorded input.
    """
    if names:
        chosen = choose_variants(names)
        named = [it for it in DEEP_ANALYSES if it.is_named(names)]
        if refused := _of_one_run(named, recorded):
            raise UsageError(
                f"The candidate {refused[0].name} plans from the trace of one run, so it cannot"
                " have several recorded inputs; leave out --also."
            )
        limits = limits_for(named, distance)
        variants = AnalysisNeeds().variants([it for it in USUAL if it in chosen], limits)
        for one in named:
            variants += one.needs.variants([it for it in one.variants if it in chosen], limits)
        return Choice(variants, named=named, limits=limits)
    deep = DEEP_ANALYSES if effort.traces else ()
    refused = _of_one_run(deep, recorded)
    tested = [it for it in deep if it not in refused]
    why = f"it plans from the trace of one run, and {recorded} inputs are recorded"
    excluded = {it.name: why for it in refused}
    limits = limits_for(tested, distance)
    return Choice(AnalysisNeeds().variants(USUAL, limits), (), tested, excluded, limits)


def _of_one_run(analyses: Sequence[DeepAnalysis], recorded: int) -> list[DeepAnalysis]:
    """Those that cannot have that number of recorded inputs."""
    return [it for it in analyses if it.is_of_one_run and recorded > 1]


def examine(choice: Choice, profile: Profile) -> list[Examined]:
    """The deep analyses of the choice, with the results of their tests, in the table's order."""
    found = []
    for one in DEEP_ANALYSES:
        if one.name in choice.excluded:
            found.append(Examined(one, Prospect(False, choice.excluded[one.name])))
        elif one in choice.named:
            found.append(Examined(one, Prospect(True, "--candidates names it")))
        elif one in choice.tested:
            found.append(Examined(one, one.prospect(profile)))
    return found


def worth_trying(choice: Choice, examined: Iterable[Examined]) -> list[PlanVariant]:
    """The variants of the choice, and of its tested analyses that could matter."""
    more = [
        variant
        for one in examined
        if one.prospect.could_matter and one.analysis in choice.tested
        for variant in one.analysis.needs.variants(one.analysis.variants, choice.limits)
    ]
    return [*choice.variants, *more]


def told(tried: TriedAnalysis) -> str:
    """The line of the log about a deep analysis."""
    plans = {0: "no plan", 1: "1 plan"}.get(tried.plans, f"{tried.plans} plans")
    what = f"tried, {plans}" if tried.tried else "not tried"
    return f"{tried.name}: {what}: {tried.why}"
