"""What the search minimises: the modelled time of misses and of the allocator."""

from __future__ import annotations

from halo.schema.prediction import LoadedTrace, Predicted

NEXT_ALLOCATION_CYCLES = 100
"""Cycles that glibc needs more than a group to allocate an object and to free it.

A pair costs 7 to 24 ns under glibc if it is freed immediately and 60 to 1400 ns in batches, and
5 to 10 ns and 8 to 48 ns in groups (docs/evaluation/conflicts.md, "The paper's mechanism").
"""


def modelled_cost(trace: LoadedTrace, one: Predicted) -> float:
    """Cycles: those of the kept accesses' misses, and a like share of the other objects' time."""
    others = max(0, trace.objects - one.grouped)
    share = trace.kept / trace.accesses if trace.accesses else 0.0
    return one.cycles + NEXT_ALLOCATION_CYCLES * others * share
