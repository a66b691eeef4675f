"""Samples the resident size of the groups' address range from /proc/PID/smaps.

The runtime reserves one range, anonymous and without swap reservation (`nr` in VmFlags), and opens
parts of it on demand: the largest unbroken run of such areas. If the runtime's statistics report
the range, that takes precedence.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

AREA = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+)\s*(.*)")
HUGE_PAGE = 2 << 20
RESERVE_STEP = 64 << 20
TABLES = 2 / 64 + 64 / (1 << 16) + 12 / (2 << 20)  # behind the pages: bitmaps and headers, per byte


class Area(NamedTuple):
    """One line of smaps: addresses, resident bytes, and whether it may be part of the range."""

    start: int
    end: int
    resident: int
    candidate: bool


class Range(NamedTuple):
    """A range of addresses; `end` is exclusive."""

    start: int
    end: int


NOWHERE = Range(0, 0)


@dataclass(frozen=True)
class Sample:
    """One sample of a process: time, all resident bytes, and areas that may be in the range."""

    seconds: float
    resident: int
    areas: tuple[Area, ...]

    def inside(self, addresses: Range) -> int:
        return sum(
            area.resident
            for area in self.areas
            if addresses.start <= area.start and area.end <= addresses.end
        )


@dataclass
class Watch:
    """The samples of one run, and the largest range seen in it."""

    samples: list[Sample] = field(default_factory=list)
    largest: Range = NOWHERE

    def addresses(self, stats: Mapping[str, Any]) -> Range:
        """The pages' addresses, as the runtime reports them or as found."""
        if "arena_base" in stats and "arena_bytes" in stats:
            base = int(stats["arena_base"])
            return Range(base, base + int(stats["arena_bytes"]))
        return pages_in(self.largest)

    def peak(self, stats: Mapping[str, Any]) -> int:
        addresses = self.addresses(stats)
        return max((sample.inside(addresses) for sample in self.samples), default=0)


def read_areas(smaps: str) -> list[Area]:
    """The areas in ascending order.

    The kernel returns the file in pieces. An area that grows between two of them is repeated,
    longer.
    """
    return list({area.start: area for area in parse_areas(smaps)}.values())


def parse_areas(smaps: str) -> Iterator[Area]:
    start = end = resident = 0
    anonymous = False
    for line in smaps.splitlines():
        if line.startswith("Rss:"):
            resident = int(line.split()[1]) * 1024
        elif line.startswith("VmFlags:"):
            yield Area(start, end, resident, anonymous and "nr" in line.split())
        elif header := AREA.match(line):
            start, end = int(header[1], 16), int(header[2], 16)
            anonymous = header[3] == "0" and not header[4]


def largest_run(areas: Sequence[Area]) -> Range:
    """The longest sequence of adjacent candidates."""
    candidates = [area for area in areas if area.candidate]
    if not candidates:
        return NOWHERE
    starts = [candidates[0].start]
    ends = []
    for before, after in pairwise(candidates):
        if before.end != after.start:
            ends.append(before.end)
            starts.append(after.start)
    ends.append(candidates[-1].end)
    runs = [Range(start, end) for start, end in zip(starts, ends, strict=True)]
    return max(runs, key=lambda run: run.end - run.start)


def pages_in(found: Range) -> Range:
    """The part of the reserved range that holds pages, without its tables and its alignment."""
    if found.end - found.start < RESERVE_STEP:
        return NOWHERE
    base = -(-found.start // HUGE_PAGE) * HUGE_PAGE
    usable = found.end - found.start - HUGE_PAGE
    pages = round(usable / (1 + TABLES) / RESERVE_STEP) * RESERVE_STEP
    return Range(base, base + pages)


def take_sample(pid: int, seconds: float) -> tuple[Sample, Range] | None:
    """A sample; None if the process has ended."""
    try:
        areas = read_areas(Path(f"/proc/{pid}/smaps").read_text())
    except OSError:
        return None
    resident = sum(area.resident for area in areas)
    candidates = tuple(area for area in areas if area.candidate and area.resident)
    return Sample(seconds, resident, candidates), largest_run(areas)


def watch(process: subprocess.Popen[bytes], interval: float) -> Watch:
    """Samples until the process ends."""
    seen = Watch()
    start = time.monotonic()
    while process.poll() is None:
        if taken := take_sample(process.pid, time.monotonic() - start):
            sample, run = taken
            seen.samples.append(sample)
            seen.largest = max(seen.largest, run, key=lambda item: item.end - item.start)
        time.sleep(interval)
    return seen
