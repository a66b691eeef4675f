"""What the search minimises: the modelled time of misses and of the allocator."""

from __future__ import annotations

from halo.schema.prediction import LoadedTrace, Predicted

NEXT_ALLOCATION_CYCLES = 250
"""Cycles that glibc needs more than a group to allocate an object and to free it.

In batches of 1000 objects of 240 bytes, a pair costs 63 to 69 ns under glibc and 8 ns in groups, at
about 4.5 GHz (docs/evaluation/conflicts.md, "The paper's mechanism"). A pair that is freed
immediately costs 7 and 5 ns, and larger objects cost up to 1400 ns. With 100 cycles, the search
found no plan for `python3`, where glibc coalesces free blocks for a sixth of the time.
"""

MIXED_PAGE_CYCLES = 80
"""Cycles that an allocation and a free need more in mixed-size pages than in single-size ones.

A fit to the times of nine programs under up to nine plans each: with it, the rank correlation with
the modelled cost rises from 0.07 to 0.74 on `hospital`, whose plans differ in little else
(docs/evaluation/search.md).
"""

STEP_CYCLES = 30
"""Cycles of each return address that the runtime reads beyond the caller's.

A fit, too: 40 cycles for each object of plans whose groups depend on more than the caller. On
`sqlite3` these take 1.17 to 1.20 s, and the others 1.08 to 1.11.
"""


def modelled_cost(trace: LoadedTrace, one: Predicted, steps: int = 0) -> float:
    """Cycles: those of the kept accesses' misses, and a like share of the allocations' time.

    `steps` are return addresses that all allocations need beyond the caller's.
    """
    others = max(0, trace.objects - one.grouped)
    share = trace.kept / trace.accesses if trace.accesses else 0.0
    time = NEXT_ALLOCATION_CYCLES * others + MIXED_PAGE_CYCLES * one.mixed + STEP_CYCLES * steps
    return one.cycles + time * share
