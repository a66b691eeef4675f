"""Medians, quartiles and bootstrapped ratios: pure functions over samples."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 2000


@dataclass(frozen=True)
class Spread:
    """The median and the quartiles of values."""

    median: float
    first_quartile: float
    third_quartile: float
    count: int

    @property
    def quartiles(self) -> tuple[float, float]:
        return self.first_quartile, self.third_quartile

    @property
    def spread(self) -> float:
        """The interquartile range as a share of the median."""
        return (self.third_quartile - self.first_quartile) / self.median if self.median else 0.0


def trimmed_mean(values: Sequence[float]) -> float:
    """The mean without the lowest and the highest of at least three values."""
    return statistics.fmean(sorted(values)[1:-1])


def sign_test(beyond: int, count: int) -> float:
    """The probability that as many of `count` values are beyond their median (the sign test)."""
    return sum(math.comb(count, at) for at in range(beyond, count + 1)) / float(1 << count)


@dataclass(frozen=True)
class Ratio:
    """A ratio of medians, and its 95 % confidence interval."""

    value: float
    low: float
    high: float


def summarize(values: Sequence[float]) -> Spread:
    """Median and quartiles (linear interpolation, ends included)."""
    if not values:
        raise ValueError("no values to summarize")
    if len(values) == 1:
        return Spread(values[0], values[0], values[0], 1)
    first, middle, third = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(middle, first, third, len(values))


def ratio(numerator: Sequence[float], denominator: Sequence[float]) -> Ratio:
    """The ratio of medians with a 95 % percentile bootstrap interval (Efron 1979).

    Values at the same index are from the same round. The bootstrap resamples whole rounds, so that
    slow phases of the machine, which affect both sides, do not widen the interval.
    """
    count = min(len(numerator), len(denominator))
    pairs = list(zip(numerator[-count:], denominator[-count:], strict=True))
    generator = random.Random(count)
    found = []
    for _ in range(RESAMPLES):
        drawn = generator.choices(pairs, k=count)
        below = statistics.median(pair[1] for pair in drawn)
        found.append(statistics.median(pair[0] for pair in drawn) / below)
    found.sort()
    return Ratio(
        value=statistics.median(numerator) / statistics.median(denominator),
        low=found[int(0.025 * RESAMPLES)],
        high=found[int(0.975 * RESAMPLES) - 1],
    )
