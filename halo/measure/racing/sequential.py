"""Sequential tests of paired gains, which look several times while rounds are measured.

The gain of a round is the logarithm of one time over another of the same round. The estimate is the
mean without a fifth at each end, with its standard error (Yuen, "The two-sample trimmed t for
unequal population variances", Biometrika 1974), as single rounds may be far off. Its bounds spend
the error with the square root of the rounds from FIRST_LOOK on (Kim and DeMets, "Design and
analysis of group sequential tests based on the type I error spending rate function", Biometrika
1987); `bench/studies/race_bounds.py` finds them by simulation.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, combinations_with_replacement
from statistics import NormalDist, fmean, stdev, variance
from typing import TypeAlias

from halo.measure.statistics import Ratio

ERROR = 0.01
"""The share of comparisons without the gain in question that ever reach a bound."""
FIRST_LOOK, LAST_LOOK = 7, 60  # rounds
EARLY_LOOK = 4  # rounds after which an answer can tell what is far beyond its noise
MIN_ERROR = 0.005  # of a gain, in fewer rounds than FIRST_LOOK
Bounds: TypeAlias = Mapping[int, float]
"""The bounds of a test in standard errors, by the number of rounds."""


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's signed-rank test from some rounds on, and before that a bound in standard errors.

    Without a difference, a gain is as likely as a loss of the same size, whatever the noise: so the
    ranks of their sizes have a known distribution ("Individual comparisons by ranking methods",
    Biometrics 1945). `levels` are the errors of one side, by the least number of rounds. An
    interval is bounded by the averages of two rounds (Hodges and Lehmann, "Estimates of location
    based on rank tests", Annals of Mathematical Statistics 1963). `early` are the bounds in
    standard errors, by the least number of rounds.
    """

    early: Bounds
    levels: Mapping[int, float]

    def outermost(self, rounds: int) -> int | None:
        """How many of the averages are beyond the bound at each end; None if there are too few."""
        level = max((since for since in self.levels if since <= rounds), default=None)
        return None if level is None else _signed_ranks(rounds, self.levels[level])


Test: TypeAlias = Bounds | SignedRanks


def _from_first_look(*bounds: float) -> Bounds:
    return dict(enumerate(bounds, FIRST_LOOK))


BOUNDS = _from_first_look(
    *(7.20, 6.31, 5.65, 6.98, 5.96, 5.41, 5.01, 4.73, 5.22, 4.78, 4.55, 4.39),
    *(4.27, 4.45, 4.23, 4.15, 4.05, 4.01, 4.06, 3.94, 3.87, 3.84, 3.77, 3.85),
    *(3.74, 3.68, 3.67, 3.66, 3.69, 3.64, 3.59, 3.59, 3.56, 3.57, 3.55, 3.52),
    *(3.51, 3.47, 3.51, 3.46, 3.44, 3.43, 3.39, 3.42, 3.41, 3.39, 3.38, 3.38),
    *(3.38, 3.34, 3.35, 3.31, 3.30, 3.32),
)
"""Of a test that looks after each round."""
LOOKS = (FIRST_LOOK, 9, 12, 16, 22, 30, 42)
STAGED_BOUNDS: Bounds = dict(zip(LOOKS, (7.20, 5.21, 4.79, 4.26, 3.71, 3.42, 3.17), strict=True))
"""Of a group-sequential test: it looks after each of several stages, at LOOKS and at its end."""
TWO_SIDED = SignedRanks({EARLY_LOOK: 20.0, FIRST_LOOK: 9.3}, {9: 0.002, 12: 0.0008})
"""Of an answer, which is tested after EARLY_LOOK rounds and after each of LOOKS, and may claim that
either of two is faster.

Both sides have ERROR together. Of each side's half, 0.014 percentage points are spent at the early
look, 0.055 at the next, and at most the levels at the others.
"""
LAST_BOUNDS = _from_first_look(
    *(4.01, 3.58, 3.31, 3.70, 3.44, 3.25, 3.13, 3.05, 3.19, 3.09, 3.02, 2.98),
    *(2.93, 3.00, 2.96, 2.92, 2.90, 2.88, 2.93, 2.91, 2.89, 2.87, 2.85, 2.88),
    *(2.87, 2.87, 2.86, 2.85, 2.88, 2.88, 2.87, 2.87, 2.86, 2.88, 2.88, 2.87),
    *(2.87, 2.88, 2.91, 2.91, 2.92, 2.92, 2.93, 2.95, 2.95, 2.95, 2.95, 2.95),
    *(2.97, 2.97, 2.97, 2.97, 2.97, 2.99),
)
"""The same for its end, by the number of rounds that were planned."""
SINGLE_LOOK = _from_first_look(
    *(3.97, 3.52, 3.24, 3.61, 3.31, 3.12, 2.99, 2.89, 3.03, 2.93, 2.85, 2.79),
    *(2.73, 2.80, 2.76, 2.71, 2.68, 2.65, 2.69, 2.66, 2.64, 2.61, 2.59, 2.62),
    *(2.60, 2.58, 2.57, 2.55, 2.57, 2.55, 2.54, 2.53, 2.53, 2.54, 2.52, 2.51),
    *(2.51, 2.49, 2.51, 2.50, 2.49, 2.48, 2.48, 2.48, 2.48, 2.48, 2.47, 2.46),
    *(2.48, 2.47, 2.47, 2.46, 2.46, 2.46),
)
"""Of a test that looks only once."""
SIGN_ERROR = 0.0005  # of the sign test, at each of its looks and ends
TRIM = 5  # of each 5 ordered values, one is dropped at each end
DOUBT = 2.5  # standard errors beyond which a gain is given up


@dataclass(frozen=True)
class Gain:
    """The estimated logarithm of a ratio of times, its standard error, and the rounds of it.

    `logs` are those of the rounds, in order of size.
    """

    mean: float
    error: float
    rounds: int
    logs: Sequence[float] = ()

    def exceeds(self, ratio: float, test: Test = BOUNDS) -> bool:
        """Whether it is certain that the ratio of times is above this one."""
        first = EARLY_LOOK if isinstance(test, SignedRanks) else FIRST_LOOK
        return self.rounds >= first and self._bounds(test)[0] > math.log(ratio)

    def falls_short(self, ratio: float) -> bool:
        """Whether a ratio of times above this one is unlikely."""
        return self.rounds > 1 and self.mean + DOUBT * self.error < math.log(ratio)

    def rounds_to_fall_short(self, ratio: float, maximum: int) -> int:
        """The number of rounds after which `falls_short`, if this estimate stays as it is."""
        distance = math.log(ratio) - self.mean
        if distance <= 0 or math.isinf(self.error):
            return maximum
        return min(maximum, math.ceil(self.rounds * (DOUBT * self.error / distance) ** 2))

    def interval(self, test: Test = BOUNDS) -> Ratio:
        """The ratio of times, with an interval that holds at all looks of the test together."""
        low, high = self._bounds(test)
        return Ratio(*map(math.exp, (self.mean, low, high)))

    def _bounds(self, test: Test) -> tuple[float, float]:
        low, high = self._ends(test)
        return min(low, self.mean), max(high, self.mean)

    def _ends(self, test: Test) -> tuple[float, float]:
        if not isinstance(test, SignedRanks):
            look = min(max(self.rounds, FIRST_LOOK), LAST_LOOK)
            return self._narrowed(test[look] * self.error)
        beyond = test.outermost(len(self.logs))
        if beyond is None:
            look = max((since for since in test.early if since <= self.rounds), default=EARLY_LOOK)
            reach = test.early[look] * (self.error if look >= FIRST_LOOK else self._early_error)
            return self.mean - reach, self.mean + reach
        return self._averages[beyond], self._averages[-1 - beyond]

    @property
    def _early_error(self) -> float:
        """The standard error without trimming, which few rounds do not bear, and at least a floor.

        Few rounds may all be of one of two speeds that a machine has, and then hardly differ.
        """
        if len(self.logs) < 2:
            return self.error
        return max(MIN_ERROR, stdev(self.logs) / math.sqrt(len(self.logs)))

    @cached_property
    def _averages(self) -> Sequence[float]:
        """Of each two rounds, and of each with itself, in order of size."""
        pairs = combinations_with_replacement(self.logs, 2)
        return sorted((one + other) / 2 for one, other in pairs)

    def _narrowed(self, reach: float) -> tuple[float, float]:
        """Around the mean, or the median by the sign test where that is nearer.

        A few rounds that are far off, always to one side, widen the former beyond use.
        """
        low, high = self.mean - reach, self.mean + reach
        beyond = _outermost(len(self.logs))
        if beyond:
            low, high = max(low, self.logs[beyond - 1]), min(high, self.logs[-beyond])
        return low, high


@cache
def _outermost(count: int) -> int:
    """The number k for which the k-th of `count` values from each end bounds the median.

    0: there is none. The error at each end is SIGN_ERROR at most (the sign test).
    """
    below, number = 0, 0
    while number < count:
        below += math.comb(count, number)
        if below / 2**count > SIGN_ERROR:
            break
        number += 1
    return number


@cache
def _signed_ranks(count: int, level: float) -> int:
    """The greatest sum of the ranks of losses that so few of `count` rounds have by chance.

    That is with at most `level`; -1 if none is as rare. Many rounds: by the normal distribution.
    """
    if count > LAST_LOOK:
        mean = count * (count + 1) / 4
        deviation = math.sqrt(mean * (2 * count + 1) / 6)
        return math.floor(mean + NormalDist().inv_cdf(level) * deviation)
    ways = [1]  # in which the ranks so far have each sum
    for rank in range(1, count + 1):
        without, with_it = [*ways, *[0] * rank], [*[0] * rank, *ways]
        ways = [one + other for one, other in zip(without, with_it, strict=True)]
    below = list(accumulate(ways))
    return bisect_right(below, level * 2**count) - 1


def paired_gain(slower: Sequence[float], faster: Sequence[float]) -> Gain:
    """The gain from the first times to the second ones; the same index is the same round."""
    logs = sorted(math.log(one / other) for one, other in zip(slower, faster, strict=True))
    count = len(logs)
    cut = count // TRIM
    core = logs[cut : count - cut]
    if count < 2:
        return Gain(fmean(core) if core else 0.0, math.inf, count, tuple(logs))
    winsorized = [core[0]] * cut + core + [core[-1]] * cut
    squares = variance(winsorized) * (count - 1)
    error = math.sqrt(squares / (len(core) * (len(core) - 1)))
    return Gain(fmean(core), error, count, tuple(logs))
