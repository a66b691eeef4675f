"""Miss rates of a last-level cache by page, object and context: each set is a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from support.locality.trace import Event

LINE, PAGE = 64, 4096
MIN_ACCESSES = 8


class Cache:
    """Replaces the least recently used line; the newest is the last of its list."""

    def __init__(self, sets: int, ways: int, below: Cache | None = None) -> None:
        self.sets = [[] for _ in range(sets)]  # type: list[list[int]]
        self.ways, self.below, self.dirty = ways, below, set()  # type: int, Cache | None, set[int]

    def access(self, line: int, store: bool) -> int:
        """How many levels miss."""
        lines = self.sets[line % len(self.sets)]
        missed = 0
        if line in lines:
            lines.remove(line)
        else:
            missed = 1 + (self.below.access(line, False) if self.below else 0)
            self.make_room(lines)
        lines.append(line)
        if store:
            self.dirty.add(line)
        return missed

    def make_room(self, lines: list[int]) -> None:
        if len(lines) < self.ways:
            return
        oldest = lines.pop(0)
        if oldest in self.dirty:
            self.dirty.remove(oldest)
            if self.below:
                self.below.write_back(oldest)

    def write_back(self, line: int) -> None:
        """The order of use stays if the level has the line."""
        if line in self.sets[line % len(self.sets)]:
            self.dirty.add(line)
        else:
            self.access(line, True)


@dataclass
class Object:
    address: int
    size: int
    context: int
    pages: dict[int, list[bool]] = field(default_factory=lambda: defaultdict(list))

    @property
    def misses(self) -> list[bool]:
        return [miss for page in self.pages.values() for miss in page]


@dataclass
class Found:
    accesses: int = 0
    misses: int = 0
    rates: list[float] = field(default_factory=list)  # of objects
    differences: list[float] = field(default_factory=list)  # of pages
    contexts: dict[int, list[Object]] = field(default_factory=lambda: defaultdict(list))


def rate(misses: list[bool]) -> float | None:
    return sum(misses) / len(misses) if len(misses) >= MIN_ACCESSES else None


def replay(events: Iterable[Event], first: Cache) -> Found:
    """Of two levels; objects and pages with few accesses of the last one have no rate."""
    found, objects = Found(), {}  # type: Found, dict[int, Object]
    for event in events:
        if event.kind == "allocate":
            objects[event.number] = Object(event.address, event.size, event.context)
            found.contexts[event.context].append(objects[event.number])
        elif event.kind == "access":
            begin, end = event.address // LINE, (event.address + event.size - 1) // LINE
            missed = max(first.access(line, event.store) for line in sorted({begin, end}))
            if not missed:
                continue
            found.accesses += 1
            found.misses += missed == 2
            if event.number:
                item = objects[event.number]
                item.pages[(event.address - item.address) // PAGE].append(missed == 2)
    for item in objects.values():
        mine = rate(item.misses)
        if mine is None:
            continue
        found.rates.append(mine)
        if item.size <= PAGE:
            continue
        rates = (rate(page) for page in item.pages.values())
        found.differences += [abs(one - mine) for one in rates if one is not None]
    return found
