"""Streams read, and mixed slowly: the rules of docs/corun.md in Python."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from halo.studies.pollution.corun import stream_format as layout

WORD = 8
KEEP_ORDER = (  # of the lines in a set
    layout.REQUEST_KIND_PREFETCH,
    layout.REQUEST_KIND_AHEAD,
    layout.REQUEST_KIND_WRITE_BACK,
)
HEAD_FIELDS = (
    *("magic", "version", "private_levels", "line_bytes", "page_bytes", "requests", "owners"),
    *("regions", "accesses", "cycles", "complete", "requests_check", "owners_check"),
    *("regions_check", "unused", "head_check"),
)


@dataclass(frozen=True)
class Request:
    """A request at a cycle of the program's own clock."""

    cycle: int
    kind: int
    line: int
    owner: int


@dataclass(frozen=True)
class Stream:
    """A whole stream; owners have the fields of OwnerEntry."""

    head: dict[str, int]
    requests: list[Request]
    owners: list[tuple[int, ...]]
    regions: list[int]


def read_stream(path: Path) -> Stream:
    data = path.read_bytes()
    head = dict(zip(HEAD_FIELDS, layout.STREAM_HEAD.unpack_from(data), strict=True))
    assert head["magic"] == layout.STREAM_MAGIC
    assert zlib.crc32(data[: layout.STREAM_HEAD.size - 4]) == head["head_check"]
    at = layout.STREAM_HEAD.size
    words = data[at : at + WORD * head["requests"]]
    assert zlib.crc32(words) == head["requests_check"]
    at += len(words)
    size = layout.OWNER_ENTRY.size * head["owners"]
    owners = list(layout.OWNER_ENTRY.iter_unpack(data[at : at + size]))
    rest = data[at + size :]
    assert zlib.crc32(rest) == head["regions_check"]
    numbers = [int.from_bytes(rest[i : i + WORD], "little") for i in range(0, len(rest), WORD)]
    return Stream(head, _requests(words), owners, numbers)


def _requests(words: bytes) -> list[Request]:
    found, cycle = [], 0
    for at in range(0, len(words), WORD):
        word = int.from_bytes(words[at : at + WORD], "little")
        line = word & ((1 << layout.LINE_BITS) - 1)
        owner = word >> layout.LINE_BITS & ((1 << layout.OWNER_BITS) - 1)
        passed = word >> (layout.LINE_BITS + layout.OWNER_BITS)
        kind = passed >> layout.CYCLE_BITS
        passed &= (1 << layout.CYCLE_BITS) - 1
        if kind == layout.REQUEST_KIND_PASS:
            cycle += passed << layout.LINE_BITS | line
            continue
        cycle += passed
        found.append(Request(cycle, kind, line, owner))
    return found


class Random:
    """splitmix64, and the order that src/base/random.h draws from it."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, bound: int) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        value = self._state
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return (value ^ (value >> 31)) * bound >> 64

    def order(self, size: int) -> list[int]:
        found = list(range(size))
        for i in range(size, 1, -1):
            j = self.below(i)
            found[i - 1], found[j] = found[j], found[i - 1]
        return found


@dataclass
class Shared:
    """The last level: sets of lines, the least recently used first."""

    sets: int
    ways: int
    lines: dict[int, OrderedDict[object, None]] = field(default_factory=dict)

    def serve(self, kind: int, line: object, place: int) -> bool:
        held = self.lines.setdefault(place % self.sets, OrderedDict())
        if line in held:
            if kind not in KEEP_ORDER:
                held.move_to_end(line)
            return True
        held[line] = None
        if len(held) > self.ways:
            held.popitem(last=False)
        return False


class Running:
    """A program of a mix. Its frames are places in the cache and names of its own."""

    def __init__(
        self,
        number: int,
        stream: Stream,
        confined: Sequence[bool],
        order: list[int],
        restricted: range,
    ) -> None:
        self._number, self._stream, self._confined = number, stream, confined
        self._order, self._restricted = order, restricted
        self._frames: dict[tuple[int, bool], int] = {}
        self._turns = 0
        self._in_page = stream.head["page_bytes"] // stream.head["line_bytes"]
        self._begin = self._late = self._at = 0
        self.runs = self.cycles = self.misses = self.accesses = self.fetches = 0

    @property
    def next_cycle(self) -> int:
        requests = self._stream.requests
        own = requests[self._at].cycle if self._at < len(requests) else self._stream.head["cycles"]
        return self._begin + own + self._late

    def step(self, level: Shared, hit: int, miss: int) -> None:
        if self._at == len(self._stream.requests):
            self._end()
            return
        request = self._stream.requests[self._at]
        page, offset = divmod(request.line, self._in_page)
        confined = self._confined[request.owner]
        colour = self._colour(page, confined)
        name = (self._number, self.runs, page, confined, offset)
        had = level.serve(request.kind, name, colour * self._in_page + offset)
        if request.kind in (layout.REQUEST_KIND_DEMAND, layout.REQUEST_KIND_JOINED):
            self._late += hit if had else miss
        if self.runs == 0 and request.kind != layout.REQUEST_KIND_WRITE_BACK:
            self.accesses += 1
            self.misses += not had
            self.fetches += request.kind != layout.REQUEST_KIND_AHEAD
        self._at += 1

    def _colour(self, page: int, confined: bool) -> int:
        if (page, confined) not in self._frames:
            self._frames[page, confined] = self._new_colour(page, confined)
        return self._frames[page, confined]

    def _new_colour(self, page: int, confined: bool) -> int:
        if confined:
            self._turns += 1
            return self._restricted[(self._turns - 1) % len(self._restricted)]
        pages = (1 << layout.REGION_SHIFT) // self._stream.head["page_bytes"]
        address = self._stream.regions[page // pages] * pages + page % pages
        return self._order[address % len(self._order)]

    def _end(self) -> None:
        end = self.next_cycle
        if self.runs == 0:
            self.cycles = end
        self.runs += 1
        self._begin, self._late, self._at = end, 0, 0
        self._frames.clear()


def run_mix(
    streams: Sequence[Stream],
    confined: Sequence[Sequence[bool]],
    shape: tuple[int, int],
    costs: tuple[int, int],
    seed: int,
) -> list[Running]:
    """The programs until each has ended once; `shape`: sets and ways, `costs`: of hit and miss."""
    sets, ways = shape
    head = streams[0].head
    colours = sets * head["line_bytes"] // head["page_bytes"]
    restricted = range(max(colours // 8, 1))
    running = [
        Running(at, stream, mine, Random(seed * 64 + at).order(colours), restricted)
        for at, (stream, mine) in enumerate(zip(streams, confined, strict=True))
    ]
    level = Shared(sets, ways)
    while any(one.runs == 0 for one in running):
        first = min(running, key=lambda one: one.next_cycle)
        first.step(level, *costs)
    return running
