"""The answer of a measurement: what to use, what that gains, or that it cannot be told.

All of it is by the deciding clock (racing/clock.py), in the rounds of the answer, which chose
nothing. The terminal, the JSON file and the page have the same sentences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import chain

from halo.base.schema.summary import Conclusion
from halo.measure.candidates import printed
from halo.measure.findings import Findings, best_baseline
from halo.measure.racing.clock import Clock, clock_name, deciding_clock
from halo.measure.racing.gains import (
    HALO,
    Objective,
    fastest_of,
    gain_of,
    peak_memory,
    surely_faster,
)
from halo.measure.racing.sequential import (
    EARLY_LOOK,
    FIRST_LOOK,
    LOOKS,
    TWO_SIDED,
    Gain,
    paired_gain,
)
from halo.measure.runs.rounds import Samples
from halo.measure.statistics import Ratio, ratio

THRESHOLD = 0.02  # a change of time whose whole interval is within it counts as none
MIN_TRIALS = FIRST_LOOK  # that are advised
MAX_ADVISED = 200  # trials; if more are needed, a quieter machine is better advice
NEAREST = (
    0.005  # assumed distance of a value to the threshold, to estimate the trials that it needs
)
CLEARLY = 1.10  # times the time of no plan: placement matters, if a plan surely takes more


class Answer(StrEnum):
    """The answer from the data; the value is that of the JSON."""

    PLAN_HELPS = "plan-helps"
    ALLOCATOR_HELPS = "allocator-helps"
    NO_GAIN = "no-gain"
    NOT_SENSITIVE = "not-sensitive"
    CANNOT_TELL = "cannot-be-told"
    ALLOCATORS_ONLY = "allocators-only"


@dataclass(frozen=True)
class PlanChange:
    """The ratio of time under a plan to that of its allocator alone, where plans were chosen.

    `mine` and `own` are seconds by the deciding clock: under the plan, and of the allocator alone
    in the same rounds. With `same_pages`, both use huge pages, or neither does.
    """

    label: str
    allocator: str
    mine: Sequence[float]
    own: Sequence[float]
    same_pages: bool = True

    @property
    def rounds(self) -> int:
        return len(self.mine)

    @property
    def gain(self) -> Gain:
        return paired_gain(self.own, self.mine)

    @property
    def times(self) -> float:
        """The time under the plan over that without, in the mean of the rounds."""
        return math.exp(-self.gain.mean)

    @property
    def is_none(self) -> bool:
        """Whether the estimate counts as no change."""
        return abs(self.times - 1) <= THRESHOLD

    @cached_property
    def change(self) -> Ratio:
        """The ratio of the medians; its interval is bootstrapped, which takes milliseconds."""
        return ratio(self.mine, self.own)

    @property
    def percents(self) -> tuple[float, float, float]:
        """The change in per cent and its interval."""
        value, low, high = self.change.value, self.change.low, self.change.high
        return 100 * (value - 1), 100 * (low - 1), 100 * (high - 1)


def conclude(findings: Findings) -> Conclusion:
    """The answer; of a measurement without plans, which allocator is fastest."""
    if findings.answered is not None:
        return findings.answered.verdict
    program = findings.program
    counts = [len(samples) for samples in findings.reference.values() if samples]
    if not counts:
        return _ended(findings)
    trials = min(counts)
    if trials < EARLY_LOOK:
        return _open(
            f"{program}: it cannot be told what is fastest: {trials} trial{'s' * (trials > 1)}"
            f" conclude{'s' * (trials == 1)} nothing",
            f"repeat it with --trials {MIN_TRIALS} or more",
        )
    if findings.kept is None:
        return _allocators(findings)
    if findings.objective is Objective.MEMORY:
        return _memory(findings)
    use = findings.use
    return _nothing(findings) if use == findings.native.name else _helps(findings, use)


def is_open(findings: Findings) -> bool:
    """Whether more rounds might still change the answer."""
    trials, use = findings.answers, findings.use
    if findings.objective is Objective.MEMORY:
        return False
    others = [name for name in trials if name != use]
    slower = {findings.native.name, _best(findings) if use == HALO else use} - {use}
    return any(_may_gain(gain_of(trials, name, use)) for name in others) or any(
        not _is_told(gain_of(trials, use, name)) for name in slower & trials.keys()
    )


def _is_told(gain: Gain) -> bool:
    """Whether the gain is certain; at an early look, whose interval is wide, half of it."""
    early = gain.rounds < FIRST_LOOK
    return gain.exceeds(math.exp(gain.mean / 2) if early else 1.0, TWO_SIDED)


def _may_gain(gain: Gain) -> bool:
    return gain.interval(TWO_SIDED).high > 1 + THRESHOLD


def _best(findings: Findings) -> str:
    return best_baseline(findings) or findings.native.name


def _helps(findings: Findings, use: str) -> Conclusion:
    """The answer for what is certainly faster than what runs today."""
    native, best = findings.native.name, _best(findings)
    gain = _times(gain_of(findings.reference, use, native))
    by = clock_name(answer_clock(findings))
    sentence = (
        f"{findings.program}: use {named(findings, use)}: {gain} as today, with {native}, by {by}."
    )
    if use == HALO:
        over = _times(gain_of(findings.reference, HALO, best))
        more = f"Over the best allocator with its best setting, {best}: {over}."
        return Conclusion(Answer.PLAN_HELPS, sentence, more=more)
    return Conclusion(Answer.ALLOCATOR_HELPS, sentence, more=_of_plans(findings))


def _memory(findings: Findings) -> Conclusion:
    """The answer if the least peak memory among the fastest is asked for."""
    trials, native, use = findings.answers, findings.native.name, findings.use
    fastest = fastest_of(trials, list(trials)) or native
    mine = peak_memory(trials[use]) / 1e6
    today = peak_memory(trials[native]) / 1e6
    more = (
        f"It is {_times(gain_of(trials, use, fastest))} as the fastest, {named(findings, fastest)}."
        if use != fastest
        else "It is also the fastest."
    )
    if use == native:
        sentence = (
            f"{findings.program}: leave it as it is, with {native}: nothing near the fastest has a"
            f" lower peak memory than its {today:.0f} MB."
        )
        return Conclusion(Answer.NO_GAIN, sentence, more=more)
    sentence = (
        f"{findings.program}: use {named(findings, use)}: its peak memory is {mine:.0f} MB, with"
        f" {native} {today:.0f} MB."
    )
    answer = Answer.PLAN_HELPS if use == HALO else Answer.ALLOCATOR_HELPS
    return Conclusion(answer, sentence, more=more)


def _nothing(findings: Findings) -> Conclusion:
    """The answer if what runs today is to stay."""
    trials, native = findings.answers, findings.native.name
    others = [name for name in trials if name != native]
    leader = fastest_of(trials, [native, *others])
    gains = {name: gain_of(trials, name, native) for name in others}
    doubtful = [name for name in others if _may_gain(gains[name])]
    if doubtful:
        name = max(doubtful, key=lambda one: gains[one].mean)
        gain = gains[name]
        change = gain.interval(TWO_SIDED)
        return _open(
            f"{findings.program}: it cannot be told whether {named(findings, name)} gains: it is"
            f" {_times(gain)} as today, with {native}",
            advice(Ratio(1 / change.value, 1 / change.high, 1 / change.low), gain.rounds),
        )
    found = f"the fastest is {leader}" if leader != native else "nothing is faster"
    sentence = (
        f"{findings.program}: leave it as it is, with {native}: nothing that halo knows gains more"
        f" than {THRESHOLD:.0%} ({found})."
    )
    changes = plan_changes(findings)
    insensitive = changes and not findings.unrecorded and all(it.is_none for it in changes)
    answer = Answer.NOT_SENSITIVE if insensitive else Answer.NO_GAIN
    return Conclusion(answer, sentence, more=_of_plans(findings))


def _of_plans(findings: Findings) -> str:
    """What was found of placement, if no plan is to be used."""
    if findings.rejected:
        return (
            f"Placement matters, but '{findings.rejected}' makes it faster on one input and slower"
            " on another."
        )
    changes = plan_changes(findings)
    if not changes:
        return "There was no plan to try."
    if findings.has_plan and findings.reference.get(HALO):
        kept = findings.kept
        assert kept is not None
        over = _times(gain_of(findings.reference, HALO, _best(findings)))
        return f"The best plan, '{printed(kept.label)}', is {over} as {_best(findings)}."
    slow = [it for it in changes if it.same_pages and it.gain.falls_short(1 / CLEARLY)]
    if slow:
        worst = max(slow, key=lambda it: it.times)
        return (
            f"Placement matters here: under the plan '{worst.label}' it takes {worst.times:.2f}"
            " times as long. The allocator's placement is the best."
        )
    several = len(changes) > 1
    if all(it.is_none for it in changes):
        what = f"none of {len(changes)} plans changes" if several else "its plan does not change"
        return f"It is not placement-sensitive: {what} its time by {THRESHOLD:.0%}."
    what = f"None of {len(changes)} plans is" if several else "Its plan is not"
    return f"{what} faster than the allocator's own placement."


def named(findings: Findings, label: str) -> str:
    """What a label of the answer is, in a sentence."""
    kept = findings.kept
    if label != HALO or kept is None:
        return label
    return f"the plan '{kept.variant.label}' over {kept.allocator.name}"


def answer_clock(findings: Findings) -> Clock:
    """The deciding clock of the answer."""
    return deciding_clock(chain.from_iterable(findings.reference.values()))


def _times(gain: Gain) -> str:
    """`1.45 times as fast (1.40 to 1.50)`, with the interval of the test that decides."""
    found = gain.interval(TWO_SIDED)
    return f"{found.value:.2f} times as fast ({found.low:.2f} to {found.high:.2f})"


def _allocators(findings: Findings) -> Conclusion:
    """The fastest allocator, and those without a significant difference to it."""
    best = _best(findings)
    others = [name for name in findings.answers if name not in (best, HALO)]
    equal = [name for name in others if not surely_faster(findings.reference, best, name)]
    sentence = f"{findings.program}: the fastest allocator is {best}"
    if equal:
        sentence += f", from which no difference shows to {' and '.join(equal)}"
    return Conclusion(Answer.ALLOCATORS_ONLY, f"{sentence}.")


def _ended(findings: Findings) -> Conclusion:
    """The conclusion of a measurement that ended before its answer."""
    best = fastest_of(findings.training, findings.allocators)
    if best is None:
        return Conclusion(
            Answer.CANNOT_TELL, f"{findings.program}: nothing was measured to its end."
        )
    native = findings.native.name
    found = f"of the allocators, {best} is the fastest"
    gain = gain_of(findings.training, best, native)
    if best != native and findings.training.get(native):
        times = f"{math.exp(gain.mean):.2f} times as fast as {native}"
        found += f", {times}"
        if gain.rounds >= MIN_TRIALS and not gain.exceeds(1.0, TWO_SIDED):
            found = f"no allocator is surely faster than {native} ({best} is {times})"
    few = ", too few for a conclusion" if gain.rounds < MIN_TRIALS else ""
    rounds = f"{gain.rounds} round{'s' * (gain.rounds != 1)}"
    return Conclusion(
        Answer.CANNOT_TELL,
        f"{findings.program}: it cannot be told what is fastest, as the measurement ended early;"
        f" {found}, after {rounds}{few}.",
    )


def plan_changes(findings: Findings) -> list[PlanChange]:
    """The change by each plan against its allocator alone, over their common rounds.

    The rounds before the final do not count for a finalist, as they chose the fastest.
    """
    controls = {c.allocator.name: c.label for c in findings.candidates if c.plan is None}
    phases = (findings.race, findings.final)
    clock = deciding_clock([it for phase in phases for each in phase.values() for it in each])
    found = []
    for candidate in findings.candidates:
        control = controls.get(candidate.allocator.name)
        if candidate.plan is None or control is None:
            continue
        first = findings.final if candidate.label in findings.final else findings.race
        mine, own = paired(first, candidate.label, control, clock)
        if mine:
            same = candidate.huge_pages == candidate.allocator.has_huge_pages
            found.append(PlanChange(candidate.label, candidate.allocator.name, mine, own, same))
    return found


def paired(
    samples: Samples, label: str, other: str, clock: Clock
) -> tuple[list[float], list[float]]:
    """The seconds of two labels in the rounds that both had."""
    pairs = list(zip(samples.get(label, []), samples.get(other, []), strict=False))
    return [clock(one) for one, _ in pairs], [clock(one) for _, one in pairs]


def percent(change: Ratio) -> str:
    """A change of time with its interval: `-7.9 % (-12.7 to -3.7)`."""
    low, high = 100 * (change.low - 1), 100 * (change.high - 1)
    return f"{100 * (change.value - 1):+.1f} % ({low:+.1f} to {high:+.1f})"


def advice(change: Ratio, rounds: int) -> str:
    """The remedy that would narrow the interval of that many rounds enough for a conclusion."""
    if rounds < FIRST_LOOK:
        return f"repeat it with --trials {LOOKS[1]} or more"
    half = (change.high - change.low) / 2
    slack = max(abs(abs(change.value - 1) - THRESHOLD), NEAREST)
    trials = max(MIN_TRIALS, rounds + 1, 10 * math.ceil(rounds * (half / slack) ** 2 / 10))
    quiet = "an idle machine, or an input that takes longer"
    if trials > MAX_ADVISED:
        return f"repeat it on {quiet.replace(', or', ' or with')}"
    return f"repeat it with about --trials {trials}, or on {quiet.replace(', or', ', or with')}"


def _open(sentence: str, needed: str) -> Conclusion:
    return Conclusion(Answer.CANNOT_TELL, f"{sentence}; {needed}.", needed)
