"""The results of simulated caches and TLBs in a profile: misses by context, code and object."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import astuple

from halo.base.schema.simulation import ClassCounts, HotLines, SimulatedMachine
from halo.base.schema.values import Count


class Tally(NamedTuple):
    """Accesses, the cost of their misses in cycles, and the misses of each level."""

    accesses: int
    cycles: int
    misses: tuple[int, ...]

    def plus(self, other: Tally) -> Tally:
        misses = tuple(a + b for a, b in zip(self.misses, other.misses, strict=True))
        return Tally(self.accesses + other.accesses, self.cycles + other.cycles, misses)

    def times(self, number: int) -> Tally:
        misses = tuple(number * count for count in self.misses)
        return Tally(number * self.accesses, number * self.cycles, misses)


class ObjectMisses(NamedTuple):
    """An object, by the index of its allocation, with its misses in the first level."""

    number: Count
    context: Count
    size: Count
    misses: Count


@dataclass(frozen=True)
class Classes:
    """Misses of the first cache by class; `contexts` are by context id."""

    outside: ClassCounts
    contexts: tuple[ClassCounts, ...]

    @property
    def total(self) -> ClassCounts:
        return add_classes((self.outside, *self.contexts))

    def times(self, number: int) -> Classes:
        outside, *contexts = (
            ClassCounts(*(number * count for count in astuple(one)))
            for one in (self.outside, *self.contexts)
        )
        return Classes(outside, tuple(contexts))


def add_classes(counts: Iterable[ClassCounts]) -> ClassCounts:
    """The sums, class by class."""
    rows = [astuple(one) for one in counts]
    return ClassCounts(*map(sum, zip(*rows, strict=True)))


@dataclass(frozen=True)
class Simulation:
    """A simulated run; `outside` counts accesses outside the tracked objects.

    `contexts` are by context id. `code` are (frame id, tally) pairs, most expensive first, without
    counts of accesses; the frame's offset is one byte behind the instruction. `prefetched` is by
    cache. `objects_for_half` of the `objects_missed` objects account for half of their misses.
    """

    machine: SimulatedMachine
    outside: Tally
    contexts: tuple[Tally, ...]
    code: tuple[tuple[int, Tally], ...]
    objects: tuple[ObjectMisses, ...]
    prefetched: tuple[int, ...]
    cycles: int
    objects_missed: int
    objects_for_half: int
    classes: Classes | None = None
    hot_lines: HotLines | None = None

    @property
    def total(self) -> Tally:
        """All accesses of the program."""
        total = self.outside
        for tally in self.contexts:
            total = total.plus(tally)
        return total
