"""The document of `halo study conflicts`: which objects compete for sets of the first cache."""

from __future__ import annotations

from msgspec import Struct

from halo.base.schema.simulation import SimulatedMachine
from halo.base.schema.values import Count, Number, Share

FORMAT, VERSION = "halo-conflicts", 1


class MissesByClass(Struct, frozen=True):
    """Misses of lines in the first cache, without prefetching."""

    compulsory: Count  # of a line that was never used before
    capacity: Count  # that a fully associative cache has as well
    conflict: Count  # all others

    @property
    def total(self) -> int:
        return self.compulsory + self.capacity + self.conflict


class CompetingState(Struct, frozen=True, kw_only=True):
    """An allocation context and a block size, or all memory outside tracked objects."""

    number: Count  # its index in the profile; 0: outside tracked objects
    context: Count | None  # its number in the profile; `null`: outside tracked objects
    stack: tuple[str, ...]  # call sites of the context, innermost first
    size: Count  # bytes; 0: the other sizes of the context
    accesses: Count  # number of accesses
    misses: MissesByClass  # of its lines
    objects: Count  # allocations
    peak: Count  # most objects that lived at once
    hot_line: Count  # the line of the object with the most accesses
    hot_lines: Count  # fewest lines of the object with nine tenths of the accesses
    slots: Count  # fewest slots, 64ths of the sets, with nine tenths of the uses
    far: Share  # of the reuses, those with more lines in between than the cache holds twice
    by_slot: tuple[Count, ...]  # uses of lines by slot


class CompetingPair(Struct, frozen=True):
    """Two states, in this order."""

    first: Count  # number of the state that misses
    second: Count  # number of the state whose lines are in the set
    misses: Number  # conflict misses of the first that the second causes
    lines: Number  # mean lines of the second between two uses of a line of the first


class ConflictsDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo study conflicts --json`."""

    format: str = FORMAT  # `halo-conflicts`
    version: int = VERSION  # 1
    program: str  # its path
    arguments: tuple[str, ...]  # its arguments
    machine: SimulatedMachine  # the machine whose first cache was followed
    misses: MissesByClass  # of all states
    conflict_share: Share  # of the misses, those that are conflicts
    outside_share: Share  # of the conflict misses, those with a line outside objects in the set
    min_conflict_share: Share  # the conflict share that placement by cache set needs
    placeable: bool  # whether the strategy `conflict` finds states to place
    states: tuple[CompetingState, ...]  # most conflict misses first
    pairs: tuple[CompetingPair, ...]  # most conflict misses first
    states_left_out: Count  # states that the recorder left out
    pairs_left_out: Count  # pairs that the recorder left out
