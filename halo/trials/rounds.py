"""Interleaved trials: each round runs every contender once, in a fresh random order."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

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

    The first contender of the list runs first of all, so that its output is the reference.
    """
    generator = random.Random()
    samples: Samples = {contender.label: [] for contender in contenders}
    for number in range(warm_up + trials):
        order = list(contenders)
        if number or laboratory.output(job) is not None:
            generator.shuffle(order)
        for contender in order:
            notice(Step(number, warm_up + trials, contender.label))
            sample = laboratory.measure(job, contender)
            if number >= warm_up:
                samples[contender.label].append(sample)
    return samples


def walls(samples: Sequence[Sample]) -> list[float]:
    """The wall-clock seconds of samples."""
    return [sample.wall for sample in samples]
