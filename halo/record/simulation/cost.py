"""The cost model of misses: from counts to modelled cycles.

An access costs the latency of the level that holds it, minus that of the first level. The
latencies are those of a current server, reduced by the part that out-of-order execution hides, as
fitted to measured times (docs/simulator.md, "How well it predicts the clock").
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from halo.record.simulation.latencies import CACHE_CYCLES, MEMORY_CYCLES, TLB_CYCLES, WALK_CYCLES

INSTRUCTIONS_A_CYCLE = 4.0  # while the core does not wait for memory


def modelled_cycles(
    instructions: int, cache_misses: Sequence[int], tlb_misses: Sequence[int]
) -> int:
    """The cycles of a run with these counts; misses are by level, the first level's first."""
    return round(
        instructions / INSTRUCTIONS_A_CYCLE
        + _cost(cache_misses, CACHE_CYCLES, MEMORY_CYCLES)
        + _cost(tlb_misses, TLB_CYCLES, WALK_CYCLES)
    )


def _cost(misses: Sequence[int], cycles: Sequence[int], last: int) -> int:
    """Cycles of the accesses that each level holds: missed by the one before, hit in this one."""
    found = [
        (missed - further) * cycles[level]
        for level, (missed, further) in enumerate(pairwise(misses), 1)
    ]
    return sum(found) + misses[-1] * last
