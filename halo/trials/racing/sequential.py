"""A sequential test of paired gains, which may be repeated after each round.

The gain of a round is the logarithm of one time over another of the same round. The estimate is the
mean without a fifth at each end, with its standard error (Yuen, "The two-sample trimmed t for
unequal population variances", Biometrika 1974), as single rounds may be far off. Its bounds spend
the error evenly over all looks (Lan and DeMets, "Discrete sequential boundaries for clinical
trials", Biometrika 1983); `bench/race_bounds.py` finds them by simulation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from halo.trials.statistics import Ratio

ERROR = 0.01
"""The share of comparisons without the gain in question that ever reach a bound."""
FIRST_LOOK = 7
BOUNDS = (
    *(10.00, 7.24, 5.98, 7.07, 5.85, 5.22, 4.75, 4.44, 4.71, 4.33, 4.13, 3.97),
    *(3.81, 3.93, 3.76, 3.63, 3.56, 3.49, 3.54, 3.43, 3.36, 3.30, 3.26, 3.29),
)
"""In standard errors, for each number of rounds from FIRST_LOOK on."""
LAST_BOUNDS = (
    *(4.00, 3.55, 3.28, 3.67, 3.38, 3.21, 3.10, 3.02, 3.17, 3.09, 3.01, 2.98),
    *(2.94, 3.03, 3.01, 2.99, 2.98, 2.98, 3.04, 3.06, 3.08, 3.11, 3.19, 3.45),
)
"""The same for the last look of a test that is planned to end after that number of rounds."""
LAST_LOOK = FIRST_LOOK + len(BOUNDS) - 1
SINGLE_LOOK = (
    *(4.01, 3.49, 3.24, 3.61, 3.31, 3.12, 3.01, 2.90, 3.02, 2.92, 2.85, 2.78),
    *(2.74, 2.80, 2.76, 2.71, 2.68, 2.65, 2.69, 2.66, 2.63, 2.60, 2.59, 2.61),
)
"""The same for a test that looks only once, after that number of rounds."""
TRIM = 5  # of each 5 ordered values, one is dropped at each end
DOUBT = 2.5  # standard errors beyond which a gain is given up


@dataclass(frozen=True)
class Gain:
    """The estimated logarithm of a ratio of times, its standard error, and the rounds of it."""

    mean: float
    error: float
    rounds: int

    def exceeds(self, ratio: float, bounds: Sequence[float] = BOUNDS) -> bool:
        """Whether it is certain that the ratio of times is above this one."""
        return self.rounds >= FIRST_LOOK and self.mean - self._reach(bounds) > math.log(ratio)

    def falls_short(self, ratio: float) -> bool:
        """Whether a ratio of times above this one is unlikely."""
        return self.rounds > 1 and self.mean + DOUBT * self.error < math.log(ratio)

    def expected_rounds(self, ratio: float, maximum: int) -> int:
        """The number of rounds that decides about the ratio, if this estimate stays as it is."""
        for rounds in range(max(FIRST_LOOK, self.rounds), maximum):
            error = self.error * math.sqrt(self.rounds / rounds)
            later = Gain(self.mean, error, rounds)
            if later.exceeds(ratio) or later.falls_short(ratio):
                return rounds
        return maximum

    def rounds_to_fall_short(self, ratio: float, maximum: int) -> int:
        """The number of rounds after which `falls_short`, if this estimate stays as it is."""
        distance = math.log(ratio) - self.mean
        if distance <= 0 or math.isinf(self.error):
            return maximum
        return min(maximum, math.ceil(self.rounds * (DOUBT * self.error / distance) ** 2))

    def interval(self) -> Ratio:
        """The ratio of times, with an interval that holds at all looks together."""
        reach = self._reach(BOUNDS)
        return Ratio(math.exp(self.mean), math.exp(self.mean - reach), math.exp(self.mean + reach))

    def _reach(self, bounds: Sequence[float]) -> float:
        look = min(max(self.rounds, FIRST_LOOK), LAST_LOOK)
        return bounds[look - FIRST_LOOK] * self.error


def paired_gain(slower: Sequence[float], faster: Sequence[float]) -> Gain:
    """The gain from the first times to the second ones; the same index is the same round."""
    logs = sorted(math.log(one / other) for one, other in zip(slower, faster, strict=True))
    count = len(logs)
    cut = count // TRIM
    core = logs[cut : count - cut]
    if count < 2:
        return Gain(fmean(core), math.inf, count)
    winsorized = [core[0]] * cut + core + [core[-1]] * cut
    squares = variance(winsorized) * (count - 1)
    return Gain(fmean(core), math.sqrt(squares / (len(core) * (len(core) - 1))), count)
