"""A confidence interval of a median that holds after any number of values, by their signs.

If the median is at most q, each value is above q with a probability of at most 1/2. Then the
mixture of likelihood ratios below is a nonnegative supermartingale with mean 1 at most, so by
Ville's inequality it ever reaches 1/a with a probability of at most a (Robbins, "Statistical
methods related to the law of the iterated logarithm", Annals of Mathematical Statistics 41, 1970;
Howard and Ramdas, "Sequential estimation of quantiles with applications to A/B testing and best-arm
identification", Bernoulli 28, 2022). So a measurement may stop as soon as the interval decides. The
values have to be independent; nothing is assumed of their distribution.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

ERROR = Fraction(1, 40)
"""Maximum probability that one end of the interval is ever wrong: 2.5 %, so both have 5 %."""


@dataclass(frozen=True)
class Interval:
    """The interval of the median; an end is infinite while the values do not bound it."""

    low: float
    high: float


class Side(Enum):
    """Where the median is, compared with a threshold."""

    NOT_BELOW = "not below"
    BELOW = "below"
    UNKNOWN = "unknown"


def evidence(above: int, count: int) -> Fraction:
    """The mixture against "at most 1/2": `above` of `count` values are above.

    It is the mean, over p uniform from 1/2 to 1, of p^k (1 - p)^(n - k) 2^n.
    """
    if not 0 <= above <= count:
        raise ValueError(f"{above} of {count} values")
    tail = term = 1  # `term`: the binomial coefficient of count + 1 and `at`
    for at in range(1, above + 1):
        term = term * (count + 2 - at) // at
        tail += term
    return Fraction(tail, (count + 1) * math.comb(count, above))


def is_sure(above: int, count: int) -> bool:
    """Whether that number of values above a threshold shows that the median is above it, too."""
    return evidence(above, count) * ERROR >= 1


def minimum_values() -> int:
    """The number of values that suffice if all are on the same side."""
    return next(count for count in range(1, 1000) if is_sure(count, count))


def interval(values: Sequence[float]) -> Interval:
    """The confidence interval of the median, 95 %, valid for all numbers of values together."""
    ordered = sorted(values)
    count = len(ordered)
    # The fewest values on one side of the median that are sure evidence; more are surer.
    needed = bisect_left(range(count + 1), True, key=lambda above: is_sure(above, count))
    if needed > count:
        return Interval(-math.inf, math.inf)
    return Interval(ordered[count - needed], ordered[needed - 1])


def side_of(values: Sequence[float], threshold: float) -> Side:
    """On which side of the threshold the median surely is; a median at it is `NOT_BELOW`."""
    count = len(values)
    if is_sure(sum(value > threshold for value in values), count):
        return Side.NOT_BELOW
    if is_sure(sum(value < threshold for value in values), count):
        return Side.BELOW
    return Side.UNKNOWN
