"""Counts accesses to the leaves of each class, from execution counts of places in the source."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from halo.studies.tracing.analyses.split.types import DeclaredClass, Leaf, leaves_of, same_once


@dataclass(frozen=True)
class PlaceUse:
    """The execution count of one place in the source, and the bytes of a class that it accesses.

    `bytes` is 0 if it varies, as in a copy whose length the program computes.
    """

    owner_id: int
    offset: int
    bytes: int
    accesses: int


@dataclass(frozen=True)
class ClassUse:
    """A class with its leaves and the accesses to each."""

    declared: DeclaredClass
    leaves: tuple[Leaf, ...]
    accesses: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.accesses)


def count_uses(classes: Mapping[int, DeclaredClass], places: Iterable[PlaceUse]) -> list[ClassUse]:
    """Classes by descending accesses; declarations of a class in several source files are one."""
    known = same_once(classes.values())
    leaves: dict[DeclaredClass, list[Leaf]] = {}
    counts: dict[DeclaredClass, list[int]] = {}
    for declared in classes.values():
        if declared not in leaves:
            leaves[declared] = leaves_of(declared, known)
            counts[declared] = [0] * len(leaves[declared])
    for place in places:
        accessed = classes.get(place.owner_id)
        if accessed is not None:
            for index in touched(leaves[accessed], place.offset, place.bytes):
                counts[accessed][index] += place.accesses
    found = [ClassUse(it, tuple(leaves[it]), tuple(counts[it])) for it in leaves]
    return sorted(found, key=lambda use: (-use.total, use.declared.name, use.declared.line))


def touched(leaves: Sequence[Leaf], offset: int, size: int) -> range:
    """The indices of the leaves that an access of `size` bytes reads or writes.

    An access to padding alone has none; one behind the end of a class is to its flexible array.
    """
    first = bisect_right(leaves, offset, key=lambda leaf: leaf.offset) - 1
    if first < 0 or (leaves[first].end <= offset and leaves[first].bytes):
        first += 1
    end = offset + max(size, 1)
    last = first
    while last < len(leaves) and leaves[last].offset < end:
        last += 1
    return range(first, last)
