"""The document of `halo study layout`: misses if objects had other addresses."""

from __future__ import annotations

from msgspec import Struct

from halo.base.schema.simulation import Misses
from halo.base.schema.values import Count

FORMAT, VERSION = "halo-layout", 1


class AccessGraphSize(Struct, frozen=True, kw_only=True):
    """The graph of objects that are used next to each other (Miucin, section 3.2)."""

    edges: Count  # pairs of objects
    hubs: Count  # objects with more than a hundredth of the weight, whose edges are left out
    pairs: Count  # accesses that paired: the weight of all edges
    dropped: Count  # the weight of edges that were dropped to save memory


class ReplayedLayout(Struct, frozen=True, kw_only=True):
    """The trace, replayed with objects at other addresses."""

    order: str  # of the objects; `as-recorded` for the recorded addresses
    packing: str  # `dense`, `reuse`, `malloc`, or `recorded`
    accesses: Count  # of the whole program, or of the phase
    cycles: Count  # modelled cost of the misses
    misses: Misses  # accesses that missed, by level
    run_cycles: Count = 0  # as `cycles`, of the whole program; of earlier results not known


class MissPlaces(Struct, frozen=True, kw_only=True):
    """Accesses of the recorded layout that missed the first cache, by what they are to."""

    misses: Count  # all of them
    large: Count  # to objects of more than 64 bytes that are not known to be arrays
    arrays: Count  # to arrays; 0 if the trace has no types
    typed: bool  # whether the trace has types, which tell arrays from other objects


class Replayed(Struct, frozen=True, kw_only=True):
    """What was in the trace, and its replays."""

    complete: bool  # whether the trace reaches the end of the process
    phase: bool  # whether the replays count only a phase of the program; the caches are warm then
    window: Count  # accesses before an access with which it pairs
    objects: Count  # that were tracked
    accessed_objects: Count  # those with an access
    accesses: Count  # of the whole program
    min_lines: Count  # cache lines of 64 bytes that all layouts without reuse of memory fetch once
    accesses_to_objects: Count  # without repeated ones
    graph: AccessGraphSize  # its size
    communities: tuple[Count, ...]  # their number by level, the finest first
    replays: tuple[ReplayedLayout, ...]  # the first: as recorded, if that was asked for
    miss_places: MissPlaces | None = None  # of earlier results it is not known


class LayoutDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo study layout --json`."""

    format: str = FORMAT  # `halo-layout`
    version: int = VERSION  # 1
    program: str  # its path; empty for a stored trace
    arguments: tuple[str, ...]  # of the recorded run
    phase: str  # the function given as --phase, or empty
    replayed: Replayed  # the contents of the trace, and its replays
    usual: str  # the best order of those that allocators produce
    best: str  # the best of all other orders
    gain: float  # share of modelled cycles that the best order saves over the usual one
    verdict: str = ""  # one of those in layouts.md; empty in earlier results
