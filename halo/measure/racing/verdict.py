"""Compares the labels of a race, and judges its final."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import median

from halo.measure.racing.clock import Clock, deciding_clock
from halo.measure.racing.sequential import BOUNDS, SINGLE_LOOK, Bounds, Gain, paired_gain
from halo.measure.runs.rounds import Samples

MIN_GAIN = 1.01  # less is noise on most machines and not worth a plan


@dataclass(frozen=True)
class RaceVerdict:
    """The label kept, the fastest label, and the number of rounds that decided."""

    kept: str
    fastest: str
    rounds: int


@dataclass(frozen=True)
class RaceComparison:
    """Trials of a race by one clock; `controls` are the labels without a plan.

    Labels are compared in the rounds that both had: the first ones, as labels may leave early. With
    `earlier`, also in those of the phase before, in which not all labels need have run.
    """

    samples: Samples
    controls: Sequence[str]
    clock: Clock
    earlier: Samples = field(default_factory=dict)

    @property
    def in_slices(self) -> bool:
        """Whether all rounds were in time slices, so that few of them tell."""
        return all(trial.in_slices for each in self.samples.values() for trial in each)

    def gain(self, label: str, over: Sequence[str] | None = None) -> Gain:
        """The gain of a label over each of these others, by default the controls: the least."""
        others = self.controls if over is None else over
        return min((self._paired(other, label) for other in others), key=lambda gain: gain.mean)

    def _paired(self, slower: str, faster: str) -> Gain:
        pairs = [
            (self.clock(one), self.clock(other))
            for phase in (self.earlier, self.samples)
            for one, other in zip(phase.get(slower, ()), phase.get(faster, ()), strict=False)
        ]
        return paired_gain([one for one, _ in pairs], [other for _, other in pairs])

    def fastest(self, labels: Sequence[str]) -> str:
        """The label with the least time relative to the first control."""
        return max(labels, key=lambda label: self.gain(label, self.controls[:1]).mean)

    def ranked(self, labels: Sequence[str]) -> list[str]:
        """The labels, the fastest first, by medians over the rounds that all of them had."""
        times = {label: median(map(self.clock, self.samples[label])) for label in labels}
        return sorted(labels, key=lambda label: times[label])

    def may_gain(self, label: str) -> bool:
        """Whether MIN_GAIN over the controls is not unlikely."""
        return not self.gain(label).falls_short(MIN_GAIN)

    def is_certain(self, label: str, bounds: Bounds) -> bool:
        """Whether the label gains MIN_GAIN over every control."""
        gains = [self.gain(label, [control]) for control in self.controls]
        return all(gain.exceeds(MIN_GAIN, bounds) for gain in gains)


def judge(
    final: Samples,
    controls: Sequence[str],
    clock: Clock | None = None,
    bounds: Bounds = SINGLE_LOOK,
) -> RaceVerdict:
    """Keeps the fastest of the labels whose gain over every control is certain.

    Without any, keeps the best control.

    `bounds`: those of the test that ended here; `SINGLE_LOOK` after a fixed number of rounds.
    """
    compared = _compared(final, controls, clock)
    rounds = max(len(trials) for trials in final.values())
    control = compared.fastest(controls)
    complete = [label for label, each in final.items() if len(each) == rounds]
    fastest = compared.fastest(complete)
    if fastest in controls:
        return RaceVerdict(control, fastest, rounds)
    plans = [label for label in complete if label not in controls]
    certain = [label for label in plans if compared.is_certain(label, bounds)]
    kept = compared.fastest(certain) if certain else control
    return RaceVerdict(kept, fastest, rounds)


def next_best(final: Samples, controls: Sequence[str], rejected: Collection[str]) -> str | None:
    """The fastest other plan of the final whose gain over every control is certain.

    Each plan is tested with the rounds that it had, whose number depends on their times: by BOUNDS.
    None if no gain is certain.
    """
    others = [label for label in final if label not in {*controls, *rejected}]
    if not others:
        return None
    compared = _compared(final, controls)
    certain = [label for label in others if compared.is_certain(label, BOUNDS)]
    return compared.fastest(certain) if certain else None


def _compared(
    final: Samples, controls: Sequence[str], clock: Clock | None = None
) -> RaceComparison:
    chosen = clock or deciding_clock(chain.from_iterable(final.values()))
    return RaceComparison(final, controls, chosen)
