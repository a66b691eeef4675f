"""Memory that groups waste: resident less live bytes, each group when most of it was resident."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

from halo.base.schema.trial import Pool, Trial


@dataclass(frozen=True)
class Waste:
    """What pools held and what of it was live, in bytes."""

    resident: int
    live: int

    @property
    def bytes(self) -> int:
        return max(0, self.resident - self.live)

    @property
    def share(self) -> float:
        """Of what was resident, 0 to 1."""
        return self.bytes / self.resident if self.resident else 0.0


def typical_pools(trials: Sequence[Trial]) -> Sequence[Pool]:
    """The pools of the trial with the median waste; empty where no trial had any."""
    found = [trial.pools for trial in trials if trial.pools]
    if not found:
        return ()
    middle = median_low([_waste(pools) for pools in found])
    return next(pools for pools in found if _waste(pools) == middle)


def waste_of(pools: Sequence[Pool]) -> Waste:
    """Over these pools, each at its own peak."""
    return Waste(
        sum(pool["peak_resident_bytes"] for pool in pools),
        sum(pool["live_at_peak_bytes"] for pool in pools),
    )


def _waste(pools: Sequence[Pool]) -> int:
    """The sum of what each pool wastes."""
    return sum(waste_of([pool]).bytes for pool in pools)
