"""The results of a measurement so far, and figures derived from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from halo.aging import Litter
from halo.process.allocators import GLIBC_ALONE, KNOWN, Allocator
from halo.schema.results import Machine
from halo.schema.summary import RecordCost, Summary
from halo.trials.candidates import Candidate
from halo.trials.racing.verdict import Verdict
from halo.trials.runs.rounds import Samples, walls
from halo.trials.statistics import Ratio, ratio, summarize

HALO = "halo"
WIDE = 0.10  # a larger interquartile range, as a share of the median, allows no conclusion


@dataclass
class Findings:
    """The results so far; after a failure later fields are empty.

    If it is `unrecorded`, no engine could record the program. `race` are the rounds that chose the
    finalists, `final` those of the finalists. `checked` are later rounds of the other plans, and of
    the allocators alone. `rejected` is the label of a plan that won the race and is slower than no
    plan on a further training input, if none is kept. `left_out` is by allocator the reason why it
    could not run the program; `remarks` are warnings.
    `answered` is the summary of a finished measurement that was read back.
    """

    program: str
    commands: Mapping[str, Sequence[str]]
    machine: Machine
    training: Samples = field(default_factory=dict)
    record: RecordCost | None = None
    unrecorded: bool = False
    candidates: Sequence[Candidate] = ()
    race: Samples = field(default_factory=dict)
    final: Samples = field(default_factory=dict)
    checked: Samples = field(default_factory=dict)
    verdict: Verdict | None = None
    rejected: str = ""
    reference: Samples = field(default_factory=dict)
    outputs_equal: bool | None = True  # None: nothing was compared
    outputs_compared: bool = True
    left_out: Mapping[str, str] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    failure: str = ""
    litter: Litter | None = None
    native: Allocator = GLIBC_ALONE
    answered: Summary | None = None

    @property
    def allocators(self) -> list[str]:
        """The names of the baseline allocators, that of the program's own first."""
        return list(dict.fromkeys((self.native.name, *KNOWN)))

    @property
    def kept(self) -> Candidate | None:
        if self.verdict is None:
            return None
        return next(c for c in self.candidates if c.label == self.verdict.kept)


def best_baseline(findings: Findings) -> str | None:
    """The allocator with the minimum median time on the reference input."""
    names = [name for name in findings.allocators if findings.reference.get(name)]
    return min(names, key=lambda n: median(walls(findings.reference[n])), default=None)


def speedup(findings: Findings) -> Ratio | None:
    """The best baseline's median over halo's."""
    best = best_baseline(findings)
    if best is None or not findings.reference.get(HALO):
        return None
    return ratio(walls(findings.reference[best]), walls(findings.reference[HALO]))


def gains(findings: Findings) -> dict[str, Ratio]:
    """By allocator, how many times as fast the kept configuration is on the reference input.

    The allocators are the program's own, which is mostly glibc, and the fastest one.
    """
    mine, best = findings.reference.get(HALO), best_baseline(findings)
    names = [name for name in dict.fromkeys((findings.native.name, best)) if name is not None]
    return {
        name: ratio(walls(findings.reference[name]), walls(mine))
        for name in names
        if mine and findings.reference.get(name)
    }


def wide_spreads(findings: Findings) -> dict[str, float]:
    """Wide interquartile ranges on the reference input by label, as shares of the median.

    Without a plan, the trials of `HALO` are those of its allocator.
    """
    alone = findings.kept is not None and findings.kept.plan is None
    shown = {n: s for n, s in findings.reference.items() if s and not (alone and n == HALO)}
    spreads = {name: summarize(walls(samples)).spread for name, samples in shown.items()}
    return {name: spread for name, spread in spreads.items() if spread > WIDE}
