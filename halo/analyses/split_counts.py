"""Accesses to the leaves of each class, from how often each place in the source was reached."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from halo.analyses.split_types import DeclaredClass, Leaf, leaves_of, same_once


@dataclass(frozen=True)
class PlaceUse:
    """How often one place in the source was reached, and which bytes of which class it accesses.

    `bytes` is 0 where they vary, as of a copy whose length the program computes.
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
    """The classes with most accesses first; what each source file says of a class is one class."""
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
    """The numbers of the leaves that an access of `size` bytes reads or writes.

    An access to padding alone touches none; one behind the end of a class its flexible array.
    """
    first = bisect_right(leaves, offset, key=lambda leaf: leaf.offset) - 1
    if first < 0 or (leaves[first].end <= offset and leaves[first].bytes):
        first += 1
    end = offset + max(size, 1)
    last = first
    while last < len(leaves) and leaves[last].offset < end:
        last += 1
    return range(first, last)
