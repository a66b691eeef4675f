"""Simulated caches and TLBs: the machine, misses, document of `halo study eval simulate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from halo.base.schema.values import Count

FORMAT, VERSION = "halo-simulation", 2


class Level(Struct, frozen=True):
    """A cache or a TLB."""

    name: str  # for instance `L1D`
    sets: Count  # number of sets
    ways: Count  # entries of a set
    cycles: Count  # cost of a hit, beyond that of a hit in the first level


Levels = Annotated[tuple[Level, ...], Meta(min_length=1)]


class SimulatedMachine(Struct, frozen=True):
    """The memory hierarchy that was simulated."""

    caches: Levels  # first level first
    tlbs: Levels  # first level first
    huge_tlb: tuple[Count, Count]  # sets and ways of the first TLB for pages of 2 MiB
    line: Count  # bytes of a cache line
    page: Count  # bytes of a page
    memory_cycles: Count  # cost of a miss in the last cache
    walk_cycles: Count  # cost of a miss in the last TLB
    next_line: bool  # whether the next-line prefetcher was on
    streams: bool  # whether the stream prefetcher was on

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels in the order of a tally's misses: caches, then TLBs."""
        return tuple(level.name for level in (*self.caches, *self.tlbs))


Misses = Mapping[str, Count]
"""By the names of the levels."""


class ClassCounts(Struct, frozen=True):
    """Accesses by the class of their miss in the first cache, against a fully associative one."""

    compulsory: Count  # misses of a line that was never used before
    capacity: Count  # misses of both caches
    conflict: Count  # misses of the simulated cache alone
    anti: Count  # misses of the fully associative cache alone: they are hits

    @property
    def misses(self) -> int:
        return self.compulsory + self.capacity + self.conflict


class SimulatedRun(Struct, frozen=True, kw_only=True):
    """The simulation of one run."""

    instructions: Count  # of the program
    accesses: Count  # of the program
    cycles: Count  # modelled cycles
    miss_cycles: Count = 0  # the part of them that misses cost
    misses: Misses  # by level
    prefetched: Misses = {}  # lines that the prefetchers fetched, by cache
    classes: ClassCounts | None = None  # only with `--classes`


class MissTally(Struct, frozen=True, kw_only=True):
    """Accesses and misses of memory that is not a tracked object."""

    accesses: Count  # number of accesses
    cycles: Count = 0  # modelled cycles of the misses
    misses: Misses  # by level
    classes: ClassCounts | None = None  # only with `--classes`


class ContextMisses(Struct, frozen=True, kw_only=True):
    """Accesses and misses of the objects of one allocation context."""

    context: Count  # its number in the profile
    stack: tuple[str, ...] = ()  # its call sites, innermost first
    accesses: Count  # number of accesses
    cycles: Count = 0  # modelled cycles of the misses
    misses: Misses  # by level
    classes: ClassCounts | None = None  # only with `--classes`


class CodeMisses(Struct, frozen=True, kw_only=True):
    """Misses of one place in the code."""

    place: str  # function and line
    accesses: Count  # 0: they are not counted by place
    cycles: Count = 0  # modelled cycles of the misses
    misses: Misses  # by level


class MissedObject(Struct, frozen=True):
    """An object and its misses."""

    number: Count  # of its allocation
    context: Count  # of its allocation
    size: Count  # bytes
    misses: Count  # of the first level


class HotLines(Struct, frozen=True):
    """The fewest lines with nine tenths of the uses; uses of the line used last do not count."""

    lines: Count  # number of lines
    by_slot: tuple[Count, ...]  # by slot of the first cache, a 64th of its sets


class SweptCache(Struct, frozen=True):
    """A cache of the sweep; it has LRU replacement, and nothing is prefetched."""

    bytes: Count  # its size
    ways: Count  # entries of a set
    heap: Count  # misses of tracked objects
    outside: Count  # misses of all other memory


class CacheSweep(Struct, frozen=True):
    """Caches of many sizes that simulated the same run."""

    line: Count  # bytes of a cache line
    heap: Count  # accesses to tracked objects
    outside: Count  # all other accesses
    caches: tuple[SweptCache, ...]  # by size, then by ways


class HeapUse(Struct, frozen=True):
    """The memory of tracked objects."""

    allocations: Count  # number of tracked objects
    larger: Count  # number of objects over the size limit, which are not tracked
    bytes: Count  # allocated in the whole run
    peak_live_bytes: Count  # most bytes that were live at one time
    final_live_bytes: Count  # bytes that were live at the end


class SimulationDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo study eval simulate --json`."""

    format: str = FORMAT  # `halo-simulation`
    version: int = VERSION  # 2
    program: str  # its path
    arguments: tuple[str, ...]  # its arguments
    allocator: str  # the next allocator
    plan: str | None  # its path, or `null`
    machine: SimulatedMachine  # the simulated machine
    contexts: tuple[ContextMisses, ...]  # the most expensive first
    code: tuple[CodeMisses, ...]  # the most expensive first
    instructions: Count  # of the program
    accesses: Count  # of the program
    cycles: Count  # modelled cycles
    miss_cycles: Count  # the part of them that misses cost
    misses: Misses  # by level
    prefetched: Misses  # lines that the prefetchers fetched, by cache
    classes: ClassCounts | None = None  # `null` without `--classes`
    hot_lines: HotLines | None = None  # `null` without `--classes`
    sweep: CacheSweep | None = None  # `null` without `--sweep`
    heap: HeapUse | None = None  # `null` under a plan, where objects are not tracked
    outside: MissTally  # stacks, globals, larger objects, the allocator
    objects: tuple[MissedObject, ...]  # most misses first
    objects_missed: Count  # number of objects that missed the first level
    objects_for_half: Count  # the fewest objects that have half of these misses
