"""The arithmetic of the commands that measure the runtime: waste, and ranges."""

from __future__ import annotations

import pytest

from bench.studies import arena_memory
from bench.studies.waste import GroupWaste, Result


@pytest.mark.parametrize(
    ("resident", "live", "met"),
    [
        (110 << 20, 100 << 20, True),
        (111 << 20, 100 << 20, False),
        (300 << 10, 100 << 10, True),
        (400 << 10, 100 << 10, False),
        (0, 0, True),
    ],
)
def test_waste_allows_a_tenth_or_256_kib(resident: int, live: int, met: bool) -> None:
    group = GroupWaste(0, resident, live)
    assert group.met == met
    assert Result("p", "s", 1, (group,), sampled=resident).met == met


def test_waste_notices_memory_that_no_group_counts() -> None:
    group = GroupWaste(0, 100 << 20, 99 << 20)
    assert Result("p", "s", 1, (group,), sampled=101 << 20).met
    assert not Result("p", "s", 1, (group,), sampled=103 << 20).met


def test_waste_is_missed_if_nothing_was_grouped() -> None:
    assert not Result("p", "s", 0, (), sampled=0).met


def area(start: int, end: int, flags: str, resident: int = 0, name: str = "") -> str:
    inode = 9 if name else 0
    return (
        f"{start:x}-{end:x} rw-p 00000000 00:00 {inode}    {name}\n"
        f"Rss: {resident // 1024} kB\nVmFlags: rd wr {flags}\n"
    )


def test_the_range_is_the_largest_unbroken_run_without_reservation() -> None:
    tables = (64 << 20) // 64 + 64 * 64
    base = 0x7F0000200000
    start, end = base - 4096, base + (66 << 20) + tables - 4096
    smaps = (
        area(0x10000, 0x10000 + (512 << 20), "ac", 8192)
        + area(0x7E0000000000, 0x7E0000000000 + (32 << 20), "nr", 4096)
        + area(start, base + 0x3000, "nr", 12288)
        + area(base + 0x3000, end, "nr hg", 4096)
        + area(end, end + (99 << 20), "nr", 4096, "/a/file")
    )
    found = arena_memory.largest_run(arena_memory.read_areas(smaps))
    assert found == (start, end)
    assert arena_memory.pages_in(found) == (base, base + (64 << 20))


def test_an_area_that_grows_while_it_is_read_counts_once() -> None:
    smaps = area(0x10000, 0x30000, "nr", 0x10000) + area(0x10000, 0x50000, "nr", 0x20000)
    (seen,) = arena_memory.read_areas(smaps)
    assert (seen.start, seen.end, seen.resident) == (0x10000, 0x50000, 0x20000)
