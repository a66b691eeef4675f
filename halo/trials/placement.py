"""Concludes whether a program is placement-sensitive, or that the measurement does not decide.

Absence of a measured gain does not prove that there is none: `NOT_SENSITIVE` requires intervals
that exclude a change. The terminal, the JSON file and the page have the same sentence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from halo.process.allocators import KNOWN
from halo.schema.summary import Conclusion
from halo.schema.trial import Trial
from halo.trials.findings import HALO, Findings, best_baseline, speedup, wide_spreads
from halo.trials.racing.clock import deciding_clock
from halo.trials.racing.sequential import paired_gain
from halo.trials.runs.rounds import Samples, walls
from halo.trials.statistics import Ratio, ratio, summarize

THRESHOLD = 0.02  # a change of time whose whole interval is within it counts as none
MIN_TRIALS = 7  # fewer allow no conclusion about a change of some per cent
MAX_ADVISED = 200  # trials; if more are needed, a quieter machine is better advice
NEAREST = (
    0.005  # assumed distance of a value to the threshold, to estimate the trials that it needs
)
PROBE = "`halo probe`"
"""In the remedy of a conclusion, if that command may give an answer."""


class Answer(StrEnum):
    """The answer from the data; the value is that of the JSON."""

    PLAN_HELPS = "plan-helps"
    NO_GAIN = "no-gain"
    NOT_SENSITIVE = "not-sensitive"
    CANNOT_TELL = "cannot-be-told"
    ALLOCATORS_ONLY = "allocators-only"


@dataclass(frozen=True)
class PlanChange:
    """The ratio of time under a plan to that of its allocator alone, on the training input."""

    label: str
    allocator: str
    change: Ratio
    rounds: int
    mine: Sequence[float] = ()  # seconds under the plan, in the rounds of `change`
    own: Sequence[float] = ()  # seconds of the allocator alone, in the same rounds

    @property
    def within(self) -> bool:
        """Whether the whole interval counts as no change."""
        return self.change.low >= 1 - THRESHOLD and self.change.high <= 1 + THRESHOLD

    @property
    def percents(self) -> tuple[float, float, float]:
        """The change in per cent and its interval."""
        value, low, high = self.change.value, self.change.low, self.change.high
        return 100 * (value - 1), 100 * (low - 1), 100 * (high - 1)

    def __str__(self) -> str:
        return f"'{self.label}' changes its time by {percent(self.change)}"


def is_faster(trials: Mapping[str, Sequence[Trial]], one: str, other: str) -> bool:
    """Whether there are enough trials of both, and they prove that the first is faster."""
    mine, others = (walls(trials.get(label, ())) for label in (one, other))
    return min(len(mine), len(others)) >= MIN_TRIALS and ratio(others, mine).low > 1


def seems_slower(trials: Mapping[str, Sequence[Trial]], one: str, other: str) -> bool:
    """Whether there are enough trials of both, and the first is slower in the mean of rounds.

    Also if `is_faster` says so of the other, by medians.
    """
    mine, others = trials.get(one, ()), trials.get(other, ())
    rounds = min(len(mine), len(others))
    if rounds < MIN_TRIALS:
        return False
    clock = deciding_clock([*mine, *others])
    times = ([clock(trial) for trial in found[:rounds]] for found in (mine, others))
    return paired_gain(*times).mean > 0 or is_faster(trials, other, one)


def proven_allocator(trials: Mapping[str, Sequence[Trial]], native: str) -> str | None:
    """The allocator with the least median, if enough trials prove it faster than the program's."""
    names = dict.fromkeys((native, *KNOWN))
    known = {name: median(walls(trials[name])) for name in names if trials.get(name)}
    best = min(known, key=lambda name: known[name], default=native)
    return best if best != native and is_faster(trials, best, native) else None


def conclude(findings: Findings) -> Conclusion:
    """The conclusion on placement, or on the allocators if no plans were measured."""
    if findings.answered is not None:
        return findings.answered.verdict
    program, kept = findings.program, findings.kept
    counts = [len(samples) for samples in findings.reference.values() if samples]
    if not counts:
        return _ended(findings)
    trials = min(counts)
    if trials < MIN_TRIALS:
        what = "which allocator is fastest" if kept is None else "whether it is placement-sensitive"
        return _open(
            f"{program}: it cannot be told {what}: {trials} trial{'s' * (trials > 1)} conclude"
            f"{'s' * (trials == 1)} nothing",
            f"repeat it with --trials {MIN_TRIALS} or more",
        )
    if kept is None:
        return _allocators(findings)
    return _without_plan(findings) if kept.plan is None else _with_plan(findings)


def fastest_on_training(findings: Findings) -> str | None:
    """The allocator with the minimum median time on the training input."""
    names = [name for name in findings.allocators if findings.training.get(name)]
    return min(names, key=lambda n: median(walls(findings.training[n])), default=None)


def _ended(findings: Findings) -> Conclusion:
    """The conclusion of a measurement that ended before the reference input."""
    best = fastest_on_training(findings)
    if best is None:
        return Conclusion(
            Answer.CANNOT_TELL, f"{findings.program}: nothing was measured to its end."
        )
    native = findings.native.name
    mine, usual = (walls(findings.training.get(name, ())) for name in (best, native))
    found = f"of the allocators, {best} is the fastest"
    if best != native and usual:
        gain = ratio(usual, mine)
        times = f"{gain.value:.2f} times as fast as {native} ({gain.low:.2f} to {gain.high:.2f})"
        found += f", {times}"
        if gain.low <= 1:
            found = f"no allocator is surely faster than {native} ({best} is {times})"
    few = ", too few for a conclusion" if len(mine) < MIN_TRIALS else ""
    rounds = f"{len(mine)} round{'s' * (len(mine) > 1)}"
    return Conclusion(
        Answer.CANNOT_TELL,
        f"{findings.program}: it cannot be told whether it is placement-sensitive, as the"
        f" measurement ended early; on the training input, {found}, after {rounds}{few}.",
    )


def plan_changes(findings: Findings) -> list[PlanChange]:
    """The change by each plan against its allocator alone, over their common rounds.

    The rounds before the final do not count for a finalist, as they chose the fastest.
    """
    controls = {c.allocator.name: c.label for c in findings.candidates if c.plan is None}
    found = []
    for candidate in findings.candidates:
        control = controls.get(candidate.allocator.name)
        if candidate.plan is None or control is None:
            continue
        first = findings.final if candidate.label in findings.final else findings.race
        mine, own = paired([first, findings.checked], candidate.label, control)
        if mine:
            change = ratio(mine, own)
            found.append(
                PlanChange(candidate.label, candidate.allocator.name, change, len(mine), mine, own)
            )
    return found


def paired(phases: Sequence[Samples], label: str, other: str) -> tuple[list[float], list[float]]:
    """The wall-clock times of two labels in the rounds that both had."""
    mine: list[float] = []
    others: list[float] = []
    for samples in phases:
        pairs = list(zip(samples.get(label, []), samples.get(other, []), strict=False))
        mine += walls([one for one, _ in pairs])
        others += walls([one for _, one in pairs])
    return mine, others


def percent(change: Ratio) -> str:
    """A change of time with its interval: `-7.9 % (-12.7 to -3.7)`."""
    low, high = 100 * (change.low - 1), 100 * (change.high - 1)
    return f"{100 * (change.value - 1):+.1f} % ({low:+.1f} to {high:+.1f})"


def advice(change: Ratio, rounds: int) -> str:
    """The remedy that would narrow the interval of that many rounds enough for a conclusion."""
    half = (change.high - change.low) / 2
    slack = max(abs(abs(change.value - 1) - THRESHOLD), NEAREST)
    trials = max(MIN_TRIALS, rounds + 1, 10 * math.ceil(rounds * (half / slack) ** 2 / 10))
    quiet = "an idle machine, or an input that takes longer"
    if trials > MAX_ADVISED:
        return f"repeat it on {quiet.replace(', or', ' or with')}"
    return f"repeat it with about --trials {trials}, or on {quiet.replace(', or', ', or with')}"


def _open(sentence: str, needed: str) -> Conclusion:
    return Conclusion(Answer.CANNOT_TELL, f"{sentence}; {needed}.", needed)


def _allocators(findings: Findings) -> Conclusion:
    """The fastest allocator, and those without a significant difference to it."""
    best = best_baseline(findings)
    assert best is not None
    times = {name: walls(found) for name, found in findings.reference.items() if name != HALO}
    equal = [n for n, t in times.items() if n != best and ratio(t, times[best]).low <= 1]
    sentence = f"{findings.program}: the fastest allocator is {best}"
    if equal:
        sentence += f", from which no difference shows to {' and '.join(equal)}"
    return Conclusion(Answer.ALLOCATORS_ONLY, f"{sentence}.")


def _with_plan(findings: Findings) -> Conclusion:
    program, kept = findings.program, findings.kept
    best, gain = best_baseline(findings), speedup(findings)
    assert kept is not None and best is not None and gain is not None
    what = f"the plan '{kept.variant.label}' over {kept.allocator.name}"
    times = (
        f"{gain.value:.2f} times as fast as the fastest allocator, {best}"
        f" (95 % interval {gain.low:.2f} to {gain.high:.2f})"
    )
    sure = _apart(findings, best) or not {HALO, best} & set(wide_spreads(findings))
    if gain.low > 1 and sure:
        return Conclusion(
            Answer.PLAN_HELPS,
            f"{program} is placement-sensitive: with {what} it is {times}"
            f"{_over_glibc(findings, best)}.",
        )
    lost = "What was gained on the training input did not carry over to the reference input"
    if gain.high < 1 and sure:
        return Conclusion(
            Answer.NO_GAIN,
            f"{program} loses: with {what} it is only {times}. {lost}; {_fastest(findings, best)}.",
        )
    if sure and gain.low >= 1 - THRESHOLD and gain.high <= 1 + THRESHOLD:
        return Conclusion(
            Answer.NO_GAIN, f"{program} gains nothing: with {what} it is {times}. {lost}."
        )
    change = Ratio(1 / gain.value, 1 / gain.high, 1 / gain.low)
    return _open(
        f"{program}: it cannot be told whether {what} helps on the reference input: it is {times}",
        advice(change, len(findings.reference[HALO])),
    )


def _apart(findings: Findings, best: str) -> bool:
    """Whether the interquartile ranges of the times do not overlap."""
    mine, other = (summarize(walls(findings.reference[label])) for label in (HALO, best))
    return mine.third_quartile < other.first_quartile or other.third_quartile < mine.first_quartile


def _over_glibc(findings: Findings, best: str) -> str:
    native = findings.native.name
    if best == native or not findings.reference.get(native):
        return ""
    mine = walls(findings.reference[HALO])
    over = median(walls(findings.reference[native])) / median(mine)
    return f", and {over:.2f} times as fast as {native}"


def _without_plan(findings: Findings) -> Conclusion:
    kept, best = findings.kept, best_baseline(findings)
    assert kept is not None and best is not None
    alone, use = "no plan was kept", _fastest(findings, best)
    unclear = f"{findings.program}: it cannot be told whether it is placement-sensitive"
    if findings.rejected:
        return Conclusion(
            Answer.NO_GAIN,
            f"{findings.program} is placement-sensitive, but no plan was kept:"
            f" '{findings.rejected}' makes it faster on one training input and slower on another;"
            f" {use}.",
        )
    changes = plan_changes(findings)
    if not changes:
        return _open(
            f"{unclear}, for there was no plan to try; {use}",
            f"try {PROBE} on it, or another training input",
        )
    wide = wide_spreads(findings)
    if wide:
        loud = max(wide, key=lambda label: wide[label])
        return _open(
            f"{unclear}: {alone}, but the times vary too much ({loud}: {wide[loud]:.0%} of the"
            f" median); {use}",
            "repeat it on an idle machine, or with an input that takes longer",
        )
    telling = [c for c in changes if c.rounds >= MIN_TRIALS]
    outside = [c for c in telling if not c.within]
    if not telling:
        return _open(
            f"{unclear}: {alone}, after too few rounds; {use}",
            f"repeat it with --trials {2 * MIN_TRIALS} or more",
        )
    if outside:
        return _outside(findings, max(outside, key=_reach), f"{unclear}: {alone}", use)
    if findings.unrecorded:
        return _open(
            f"{unclear}, for it could not be recorded: {alone}, as none of the plans that need no"
            f" recording changes its time by {THRESHOLD:.0%}; {use}",
            "try `halo probe` on it",
        )
    low = min(c.change.low for c in changes) - 1
    high = max(c.change.high for c in changes) - 1
    many = (
        f"none of {len(changes)} plans changes" if len(changes) > 1 else "its plan does not change"
    )
    return Conclusion(
        Answer.NOT_SENSITIVE,
        f"{findings.program} is not placement-sensitive: on the training input, {many} its time by"
        f" {THRESHOLD:.0%} (95 % intervals from {100 * low:+.1f} to {100 * high:+.1f} %). No plan"
        f" was kept; {use}.",
    )


def _fastest(findings: Findings, best: str) -> str:
    """The clause on the allocator that the next command preloads, if it preloads one."""
    native = findings.native.name
    proven = proven_allocator(findings.reference, native)
    if proven is None and best != native:
        return f"{best} has the least time, which is not certainly less than that of {native}"
    return f"the fastest allocator is {proven or best}"


def _outside(findings: Findings, plan: PlanChange, unclear: str, use: str) -> Conclusion:
    """The conclusion for a plan whose interval exceeds the threshold."""
    kept = findings.kept
    assert kept is not None
    if plan.change.high < 1 - THRESHOLD and plan.allocator != kept.allocator.name:
        return Conclusion(
            Answer.NO_GAIN,
            f"{findings.program} is placement-sensitive, but no plan is faster than"
            f" {kept.allocator.name} alone: on the training input, {plan}; {use}.",
        )
    if plan.change.low > 1 + THRESHOLD:
        return _open(
            f"{unclear}. On the training input, {plan}, by its placement or by the runtime's own"
            f" cost; {use}",
            f"{PROBE} tells the two apart",
        )
    return _open(
        f"{unclear}. On the training input, {plan}, which reaches past {THRESHOLD:.0%}; {use}",
        advice(plan.change, plan.rounds),
    )


def _reach(plan: PlanChange) -> float:
    """The maximum distance of the interval from no change."""
    return max(plan.change.high - 1, 1 - plan.change.low)


def all_within(changes: Sequence[PlanChange]) -> bool:
    """Whether the whole interval of every plan with enough rounds counts as no change."""
    return all(c.within for c in changes if c.rounds >= MIN_TRIALS)
