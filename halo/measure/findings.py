"""The results of a measurement so far, and figures derived from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from halo.base.schema.results import Machine
from halo.base.schema.summary import RecordCost, Summary, TriedAnalysis
from halo.base.schema.trial import Trial
from halo.binary.process.allocators import GLIBC_ALONE, KNOWN, Allocator
from halo.measure.aging import Litter
from halo.measure.candidates import Candidate
from halo.measure.racing.clock import deciding_clock
from halo.measure.racing.gains import HALO, Objective, fastest_of, gain_of, recommended
from halo.measure.racing.sequential import TWO_SIDED
from halo.measure.racing.verdict import RaceVerdict
from halo.measure.runs.rounds import Samples
from halo.measure.statistics import Ratio, summarize

WIDE = 0.10  # a larger interquartile range, as a share of the median, allows no conclusion


@dataclass
class Findings:
    """The results so far; after a failure later fields are empty.

    If it is `unrecorded`, no engine could record the program. `race` are the rounds that chose the
    finalists, `final` those of the finalists. `training` are the first rounds of the allocators,
    `settings` rounds with and without a setting, `reference` those of the answer. `rejected` is the
    label of a plan that won the race and is slower than no plan on another input, if none is kept.
    `left_out` is by allocator the reason why it could not run the program, `untried` by setting the
    reason why it was not measured; `remarks` are warnings. `analyses` are the deep ones.
    `answered` is the summary of a finished measurement that was read back. `known` are the
    allocators that were measured, with their settings, by name.
    """

    program: str
    commands: Mapping[str, Sequence[str]]
    machine: Machine
    training: Samples = field(default_factory=dict)
    settings: Samples = field(default_factory=dict)
    record: RecordCost | None = None
    unrecorded: bool = False
    candidates: Sequence[Candidate] = ()
    race: Samples = field(default_factory=dict)
    final: Samples = field(default_factory=dict)
    verdict: RaceVerdict | None = None
    rejected: str = ""
    reference: Samples = field(default_factory=dict)
    outputs_equal: bool | None = True  # None: nothing was compared
    outputs_compared: bool = True
    left_out: Mapping[str, str] = field(default_factory=dict)
    untried: dict[str, str] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    failure: str = ""
    litter: Litter | None = None
    native: Allocator = GLIBC_ALONE
    answered: Summary | None = None
    objective: Objective = Objective.TIME
    analyses: Sequence[TriedAnalysis] = ()
    known: dict[str, Allocator] = field(default_factory=dict)

    @property
    def allocators(self) -> list[str]:
        """The names of the allocators, with settings, that of the program's own first."""
        settings = [name for name in self.reference if ":" in name]
        tried = (*self.training, *self.settings, *self.known, *settings)
        return [it for it in dict.fromkeys((self.native.name, *KNOWN, *tried)) if it != HALO]

    @property
    def answers(self) -> Samples:
        """The trials of the answer by what may be used: allocators, and the kept plan."""
        names = (*self.allocators, *((HALO,) if self.has_plan else ()))
        return {name: self.reference[name] for name in names if self.reference.get(name)}

    def trials_of(self, allocator: str) -> Sequence[Trial]:
        """Those of an allocator alone before the race, with a setting or without."""
        return self.training.get(allocator) or self.settings.get(allocator, [])

    @property
    def use(self) -> str:
        """The label of the answer's trials that is to be used."""
        return recommended(self.answers, self.native.name, self.has_plan, self.objective)

    @property
    def has_plan(self) -> bool:
        """Whether a plan was kept, not an allocator alone."""
        return self.kept is not None and self.kept.plan is not None

    @property
    def kept(self) -> Candidate | None:
        if self.verdict is None:
            return None
        return next(c for c in self.candidates if c.label == self.verdict.kept)


def best_baseline(findings: Findings) -> str | None:
    """The fastest allocator of the answer, with its setting, by the deciding clock."""
    return fastest_of(findings.reference, findings.allocators)


def speedup(findings: Findings) -> Ratio | None:
    """How many times as fast the kept configuration is as the best allocator."""
    best = best_baseline(findings)
    if best is None or not findings.reference.get(HALO):
        return None
    return gain_of(findings.reference, HALO, best).interval(TWO_SIDED)


def gains(findings: Findings) -> dict[str, Ratio]:
    """By allocator, how many times as fast the kept configuration is.

    The allocators are the program's own, which is mostly glibc, and the fastest one.
    """
    best, trials = best_baseline(findings), findings.reference
    names = [name for name in dict.fromkeys((findings.native.name, best)) if name is not None]
    return {
        name: gain_of(trials, HALO, name).interval(TWO_SIDED)
        for name in names
        if trials.get(HALO) and trials.get(name)
    }


def wide_spreads(findings: Findings) -> dict[str, float]:
    """Wide interquartile ranges of the answer's times by label, as shares of the median.

    Without a plan, the trials of `HALO` are those of its allocator.
    """
    shown = {
        name: trials
        for name, trials in findings.reference.items()
        if trials and (name != HALO or findings.has_plan)
    }
    clock = deciding_clock([trial for trials in shown.values() for trial in trials])
    spreads = {
        name: summarize([clock(trial) for trial in trials]).spread for name, trials in shown.items()
    }
    return {name: spread for name, spread in spreads.items() if spread > WIDE}
