"""What misses cost: from counts to modelled cycles.

An access costs what the level that had it costs over the first one. Out-of-order processors hide
part of that: these are what is left of the latencies of a present-day server, as far as measured
times show it (docs/simulator.md, "How well it predicts the clock").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

INSTRUCTIONS_A_CYCLE = 4.0  # where the core waits for no memory
CACHE_CYCLES = (0, 12, 45, 70)  # by level
MEMORY_CYCLES = 200
TLB_CYCLES = (0, 1, 1, 1)  # by level
WALK_CYCLES = 8


def modelled_cycles(
    instructions: int, cache_misses: Sequence[int], tlb_misses: Sequence[int]
) -> int:
    """Cycles of so many instructions and misses, the first level's misses first."""
    return round(
        instructions / INSTRUCTIONS_A_CYCLE
        + _cost(cache_misses, CACHE_CYCLES, MEMORY_CYCLES)
        + _cost(tlb_misses, TLB_CYCLES, WALK_CYCLES)
    )


def _cost(misses: Sequence[int], cycles: Sequence[int], last: int) -> int:
    """What one level missed and the next did not was had by that one."""
    found = [
        (missed - further) * cycles[level]
        for level, (missed, further) in enumerate(pairwise(misses), 1)
    ]
    return sum(found) + misses[-1] * last
