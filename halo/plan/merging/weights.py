"""How often each input counts in a merged profile.

Each input has the same total of accesses by default, so that a long run does not outweigh a short
one. All counts of an input are multiplied by one whole number, as if its run had been repeated.
Ratios within an input thus stay exact. llvm-profdata multiplies by weights, too, but adds up
unweighted counts by default.
"""

from __future__ import annotations

from collections.abc import Sequence

TOLERANCE = 0.01
"""The largest error of an input's share, relative to that share."""
MAX_BASE = 50
"""With that number of repeats or more, rounding stays within the tolerance."""


def repeats_of(accesses: Sequence[int], weights: Sequence[float]) -> list[int]:
    """The smallest repeats that give inputs totals in proportion to their weights.

    All `accesses` and `weights` are positive; the smallest repeat is at most `MAX_BASE`.
    """
    ideal = [weight / count for weight, count in zip(weights, accesses, strict=True)]
    unit = min(ideal)
    for base in range(1, MAX_BASE):
        exact = [base * it / unit for it in ideal]
        if all(abs(round(it) - it) <= TOLERANCE * it for it in exact):
            return [round(it) for it in exact]
    return [round(MAX_BASE * it / unit) for it in ideal]
