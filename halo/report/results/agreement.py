"""Whether the simulator's cost predicts the clock: rank correlations over configurations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, median

from halo.base.errors import BadInput
from halo.report.results.metrics import REFERENCE, TRAINING
from halo.report.results.model import Measurement

MIN_POINTS = 3  # configurations of a program, and of all


@dataclass(frozen=True)
class Point:
    """A configuration under a program: modelled cycles and the median time, in seconds.

    The relative ones are over the median of that program's configurations.
    """

    program: str
    label: str
    modelled: float
    measured: float
    relative_modelled: float
    relative_measured: float


@dataclass(frozen=True)
class Agreement:
    """Spearman's rank correlations of modelled cycles and times.

    `absolute` is over all points as they are, which programs of different lengths make high;
    `relative` is over them relative to their program, which only placement and allocators move.
    `within` is by program.
    """

    absolute: float
    relative: float
    within: dict[str, float]


def points_of(measurement: Measurement) -> list[Point]:
    """The configurations that were both simulated and timed on the input that was simulated."""
    if measurement.results.simulation is None:
        raise BadInput(
            f"{measurement.path} has nothing that was simulated; halo study eval compare does that."
        )
    on = REFERENCE if measurement.results.simulation.input == REFERENCE else TRAINING
    trials = measurement.reference if on == REFERENCE else measurement.results.training
    found = {
        label: (float(simulated.cycles), median(trial.wall for trial in trials[label]))
        for label, simulated in measurement.results.simulation.configurations.items()
        if label in trials
    }
    if len(found) < MIN_POINTS:
        raise BadInput(
            f"{measurement.path} has {len(found)} configurations that were simulated and timed on"
            f" the same input; at least {MIN_POINTS} are needed: halo study eval compare"
            " measures more."
        )
    cycles = median(cycles for cycles, _ in found.values())
    seconds = median(seconds for _, seconds in found.values())
    return [
        Point(measurement.program, label, modelled, measured, modelled / cycles, measured / seconds)
        for label, (modelled, measured) in found.items()
    ]


def agreement(points: Sequence[Point]) -> Agreement:
    """The rank correlations over these points."""
    programs = dict.fromkeys(point.program for point in points)
    return Agreement(
        absolute=rank_correlation([p.modelled for p in points], [p.measured for p in points]),
        relative=rank_correlation(
            [p.relative_modelled for p in points], [p.relative_measured for p in points]
        ),
        within={
            program: rank_correlation(
                [p.modelled for p in points if p.program == program],
                [p.measured for p in points if p.program == program],
            )
            for program in programs
        },
    )


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's: the linear correlation of the ranks, equal values sharing the mean of theirs.

    0 where all values of a side are equal: nothing is predicted then.
    """
    try:
        return correlation(ranks(one), ranks(other))
    except StatisticsError:
        return 0.0


def ranks(values: Sequence[float]) -> list[float]:
    """From 1 on; equal values share the mean of their ranks."""
    order = sorted(values)
    first = {value: order.index(value) for value in order}
    count = {value: order.count(value) for value in first}
    return [first[value] + (count[value] + 1) / 2 for value in values]
