"""What the search minimises: the modelled time of misses and of the allocator."""

from __future__ import annotations

from halo.studies.search.document import LoadedTrace, Predicted

NEXT_ALLOCATION_CYCLES = 250
"""Cycles that glibc needs more than a group to allocate an object and to free it.

In batches of 1000 objects of 240 bytes, a pair costs 63 to 69 ns under glibc and 8 ns in groups, at
about 4.5 GHz (docs/evaluation/conflicts.md, "The paper's mechanism"). A pair that is freed
immediately costs 7 and 5 ns, and larger objects cost up to 1400 ns. With 100 cycles, the search
found no plan for `python3`, where glibc coalesces free blocks for a sixth of the time.
"""

MIXED_PAGE_CYCLES = 80
"""Cycles that an allocation and a free need more in mixed-size pages than in single-size ones.

A fit to the times of ten programs under up to eight plans each: the mean rank correlation with the
modelled cost is 0.43 without it, and 0.57, 0.56 and 0.60 with 40, 80 and 120 cycles
(docs/evaluation/search.md).
"""

STEP_CYCLES = 8
"""Cycles of each return address that the runtime reads beyond the caller's.

In a profile of `sqlite3`, the runtime takes 25 ns for each object if it reads six, and 15 ns if it
reads one (docs/evaluation/search.md).
"""


def modelled_cost(trace: LoadedTrace, one: Predicted, steps: int = 0) -> float:
    """Cycles: those of the kept accesses' misses, and a like share of the allocations' time.

    `steps` are return addresses that all allocations need beyond the caller's.
    """
    others = max(0, trace.objects - one.grouped)
    share = trace.kept / trace.accesses if trace.accesses else 0.0
    time = NEXT_ALLOCATION_CYCLES * others + MIXED_PAGE_CYCLES * one.mixed + STEP_CYCLES * steps
    return one.cycles + time * share
