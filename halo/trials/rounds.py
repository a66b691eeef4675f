"""Interleaved trials: each round runs every contender once, in a fresh random order."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from statistics import mean, median
from typing import NamedTuple

from halo.trials.failures import ContenderFailed
from halo.trials.job import Contender, Job, Sample
from halo.trials.laboratory import Laboratory

Samples = dict[str, list[Sample]]


class Step(NamedTuple):
    """Where a series of rounds is, for the progress display."""

    round: int
    rounds: int
    label: str


Notice = Callable[[Step], None]


def silent(step: Step) -> None:
    """No progress display."""


def interleave(
    laboratory: Laboratory,
    job: Job,
    contenders: Sequence[Contender],
    trials: int,
    notice: Notice = silent,
    warm_up: int = 1,
) -> Samples:
    """`trials` recorded rounds after `warm_up` dropped ones.

    The first contender of the list runs first of all, so that its output is the reference. An
    optional contender that cannot run the job is left out from then on, its samples too.
    """
    generator = random.Random()
    running = [c for c in contenders if c.label not in laboratory.left_out]
    samples: Samples = {contender.label: [] for contender in running}
    for number in range(warm_up + trials):
        order = list(running)
        if number or laboratory.output(job) is not None:
            generator.shuffle(order)
        for contender in order:
            notice(Step(number, warm_up + trials, contender.label))
            try:
                sample = laboratory.measure(job, contender)
            except ContenderFailed as failure:
                laboratory.left_out[contender.label] = str(failure)
                running.remove(contender)
                del samples[contender.label]
                continue
            if number >= warm_up:
                samples[contender.label].append(sample)
    return samples


def walls(samples: Sequence[Sample]) -> list[float]:
    """The wall-clock seconds of samples."""
    return [sample.wall for sample in samples]


def relative_times(samples: Samples) -> dict[str, float]:
    """Each label's time relative to the mean of the same round, in the median.

    A slow spell of the machine hits a whole round: it cancels out. All must have run in all rounds.
    """
    times = {label: walls(found) for label, found in samples.items()}
    rounds = [mean(values) for values in zip(*times.values(), strict=True)]
    return {
        label: median(time / usual for time, usual in zip(found, rounds, strict=True))
        for label, found in times.items()
    }
