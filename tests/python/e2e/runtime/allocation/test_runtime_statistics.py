"""What allocators tell programs about their memory has the grouped objects in it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from halo.plan import Plan
from halo.plan.model import PageLayout, Spans
from support.planned import Run, compile_program, make_plan, run_planned
from support.programs.interface import (
    ALLOCATORS,
    Recorded,
    build,
    library_of,
    matching_nothing,
    output_without_us,
    preload_library,
    record,
)
from support.spans import plan_of_large, record_large

COUNT, SIZE = 100_000, 448
"""Of a size that every allocator serves by a block of nearly as many bytes."""
ALL = COUNT * SIZE
NEARLY = 0.05

GLIBC = ("mallinfo", "mallinfo2", "malloc_info", "malloc_stats")
STRATEGIES = {
    "everything": ("everything",),
    "walk": ("per-site", "--option", "coverage=1"),
    "selectors": ("dense", "--identification", "selectors"),
    "random": ("random-pools", "--option", "pools=12"),
}
RECORDING = ("mallinfo2", "grow", "2000", str(SIZE), "2")


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The program, and one group for all of its objects."""
    return record(tmp_path_factory.mktemp("all"), "statistics.c", "everything", *RECORDING)


def numbers(output: str) -> list[int]:
    return [int(word) for word in output.split()]


def fine(run: Run) -> list[int]:
    assert (run.status, run.stderr) == (0, "")
    return numbers(run.stdout)


def natively(recorded: Recorded, *arguments: str, allocator: str = "glibc") -> list[int]:
    return numbers(output_without_us(recorded.program, *arguments, allocator=allocator).stdout)


def check_growth(counted: list[int], total: int = ALL) -> None:
    """All objects, half of them, none: the freed ones that a cache has do not count."""
    every, half, none = counted
    assert every == pytest.approx(total, rel=NEARLY)
    assert half == pytest.approx(total / 2, rel=NEARLY)
    assert abs(none) < total * NEARLY


def grow(recorded: Recorded, interface: str, allocator: str = "glibc", threads: int = 1) -> Run:
    arguments = (interface, "grow", str(COUNT), str(SIZE), str(threads))
    return recorded.under(library_of(allocator), arguments=arguments)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("interface", GLIBC)
def test_glibc_counts_grouped_objects(
    everything: Recorded, interface: str, allocator: str, threads: int
) -> None:
    """Also over allocators without these functions. Half of the frees are remote, while the owner
    waits."""
    check_growth(fine(grow(everything, interface, allocator, threads)))


BYTES = ("allocated", "all_arenas", "mib", "old_epoch", "stats_print")
IN_USE = [
    *(("jemalloc", name) for name in BYTES),
    ("mimalloc", "print_out"),
    *(("tcmalloc", name) for name in ("property", "get_stats")),
]
"""What an allocator's own functions count: bytes in use, and bytes of memory for them."""
MEMORY = [
    *(("jemalloc", name) for name in ("active", "resident", "mapped", "all_pages")),
    ("mimalloc", "process_info"),
    ("tcmalloc", "heap_size"),
]
NOT_NATIVE = ("stats_print", "print_out", "get_stats")
"""The program reads only what these write of groups."""


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(("allocator", "interface"), IN_USE)
def test_the_allocators_own_functions_count_grouped_objects(
    everything: Recorded, allocator: str, interface: str, threads: int
) -> None:
    counted = fine(grow(everything, interface, allocator, threads))
    check_growth(counted)
    if interface in NOT_NATIVE:
        return
    arguments = (interface, "grow", str(COUNT), str(SIZE), str(threads))
    assert counted[:2] == pytest.approx(
        natively(everything, *arguments, allocator=allocator)[:2], rel=NEARLY
    )


@pytest.mark.parametrize(("allocator", "interface"), MEMORY)
def test_the_allocators_own_functions_count_the_memory_of_groups(
    everything: Recorded, allocator: str, interface: str
) -> None:
    """At least that of the objects, which are fewer later; some memory is kept."""
    every, half, none = fine(grow(everything, interface, allocator, threads=4))
    assert every == pytest.approx(ALL, rel=NEARLY)
    assert half >= ALL / 2 * (1 - NEARLY) and none <= half <= every * (1 + NEARLY)


def stepping(plan: Plan) -> Plan:
    layout = PageLayout(stepping=True)
    groups = (group._replace(by_size=True, layout=layout) for group in plan.groups)
    return replace(plan, groups=tuple(groups))


def test_groups_that_step_count(tmp_path: Path) -> None:
    program = build(tmp_path, "statistics.c")
    plan = make_plan(tmp_path, [str(program), *RECORDING], *STRATEGIES["walk"])
    run = grow(Recorded(program, plan).changed("steps", stepping), "mallinfo2", threads=4)
    check_growth(fine(run))
    assert run.stats["stepping"]["peak_bytes"] > ALL * (1 - NEARLY)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_way_to_choose_the_group_counts(tmp_path: Path, strategy: str) -> None:
    program = build(tmp_path, "statistics.c")
    plan = make_plan(tmp_path, [str(program), *RECORDING], *STRATEGIES[strategy])
    run = grow(Recorded(program, plan), "mallinfo2", threads=4)
    check_growth(fine(run))
    assert sum(run.allocations) >= COUNT


EVICTING = [
    ("glibc", "mallinfo2", 504),
    ("glibc", "malloc_info", 504),
    ("jemalloc", "allocated", 48),
    ("jemalloc", "mib", 48),
    ("tcmalloc", "property", 48),
    ("tcmalloc", "mallinfo", 48),
]
"""With the bytes of objects to which the native allocator adds little."""


@pytest.mark.parametrize(("allocator", "interface", "size"), EVICTING)
def test_a_program_that_evicts_by_the_statistics_does_so_as_natively(
    everything: Recorded, allocator: str, interface: str, size: int
) -> None:
    limit = 60_000 * size
    arguments = (interface, "evict", "300000", str(size), str(limit))
    native = natively(everything, *arguments, allocator=allocator)
    ours = fine(everything.under(library_of(allocator), arguments=arguments))
    assert len(native) == len(ours) >= 4
    assert ours == pytest.approx(native, rel=NEARLY)


PURGING = [
    *((allocator, "mallinfo2") for allocator in ALLOCATORS),
    ("jemalloc", "allocated"),
    ("jemalloc", "mib"),
    ("mimalloc", "process_info"),
    ("tcmalloc", "property"),
]


@pytest.mark.parametrize(("allocator", "interface"), PURGING)
def test_purging_returns_free_pages_of_groups(
    everything: Recorded, allocator: str, interface: str
) -> None:
    """malloc_trim, which says whether it did, and what the allocators have for that. Few pages are
    free: most were purged when the heap shrank."""
    arguments = (interface, "trim", "400000", "100")
    trimmed, full, freed, after = fine(everything.under(library_of(allocator), arguments=arguments))
    assert trimmed == 1
    assert full > 40_000 and freed - after > 1_500


@pytest.mark.parametrize(
    ("allocator", "interface"), [("jemalloc", "active"), ("tcmalloc", "heap_size")]
)
def test_a_partial_purge_leaves_the_pages_of_groups(
    everything: Recorded, allocator: str, interface: str
) -> None:
    """One of an arena, or of a byte: programs repeat it, and groups are purged as a whole."""
    arguments = (interface, "trim", "400000", "100")
    trimmed, full, freed, after = fine(everything.under(library_of(allocator), arguments=arguments))
    assert trimmed == 1 and full > 40_000 and freed - after < 500


def test_mallinfo2_counts_by_mallinfo_where_the_c_library_has_no_mallinfo2(tmp_path: Path) -> None:
    """As before glibc 2.33; of objects that are forwarded."""
    recorded = record(tmp_path, "statistics.c", "per-site", *RECORDING)
    shim = preload_library(tmp_path, "failing_dlsym.c", '-DLACKING="mallinfo2"')
    arguments = ("mallinfo2", "grow", str(COUNT), str(SIZE), "1")
    run = recorded.changed("forwarded", matching_nothing).under(shim, arguments=arguments)
    check_growth(fine(run))
    assert run.stats["active"] and sum(run.allocations) == 0


DOCUMENT = r"""
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *work(void *unused) {
  static __thread void *kept[1000];
  for (int i = 0; i < 1000; ++i) memset(kept[i] = malloc(100), 1, 100);
  for (int i = 0; i < 1000; ++i) free(kept[i]);
  return NULL;
}
int main(void) {
  pthread_t threads[3];
  void *kept[100];
  for (int i = 0; i < 100; ++i) kept[i] = malloc(50);
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < 100; ++i) free(kept[i]);
  if (malloc_info(0, stdout) != 0 || malloc_info(1, stdout) == 0) return 1;
  return 0;
}
"""


def sizes(element: ElementTree.Element) -> dict[tuple[str, str], int]:
    """The sums that follow the heaps in a document of malloc_info, or those in a heap."""
    found = (each for each in element if each.tag in ("total", "system", "aspace"))
    return {(each.tag, each.attrib["type"]): int(each.attrib["size"]) for each in found}


def test_the_document_of_malloc_info_is_well_formed_and_adds_up(tmp_path: Path) -> None:
    program = compile_program(tmp_path, DOCUMENT, "-pthread")
    run = run_planned([str(program)], make_plan(tmp_path, [str(program)], "everything"))
    assert (run.status, run.stderr) == (0, "")
    document = ElementTree.fromstring(run.stdout)
    heaps = document.findall("heap")
    assert [heap.attrib["nr"] for heap in heaps] == [str(at) for at in range(len(heaps))]
    assert len(heaps) >= 2
    total, parts = sizes(document), [sizes(heap) for heap in heaps]
    assert parts[-1][("system", "current")] > 0
    for key in total.keys() & parts[0].keys():
        assert total[key] == sum(part[key] for part in parts), key


def test_spans_count_as_blocks_that_are_mapped(tmp_path: Path) -> None:
    count, size = 60, (1 << 20) - 4096
    program = build(tmp_path, "statistics.c")
    command = [str(program), "mallinfo2", "grow"]
    profile = record_large([*command, "20", str(size), "1"], tmp_path / "prog.profile")
    plan_of_large(profile, Spans(), tmp_path / "prog.plan")
    run = run_planned([*command, str(count), str(size), "2"], tmp_path / "prog.plan")
    check_growth(fine(run), count * size)
    assert run.stats["spans"]["allocations"] >= count
