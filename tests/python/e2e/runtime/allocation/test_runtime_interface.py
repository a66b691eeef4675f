"""The whole allocation interface, grouped and forwarded, over each baseline allocator.

Rows are those of the list of what breaks preloaded allocators, by what each is about:
3 missing symbols; 13 foreign pointers; 14 `__libc_*`; 17 missing variants; 18 operator new and
delete; 19 C23; 20 malloc_usable_size; 27 GLIBC_TUNABLES; 29 errno.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from halo.plan import VERDICT_FORWARD, Plan, read_plan
from support.planned import Run, compile_program, make_plan, run_planned
from support.programs.interface import (
    ALLOCATORS,
    DIRECT,
    TUNABLES,
    Recorded,
    library_of,
    made_of,
    matching_nothing,
    output_without_us,
    preload_library,
    record,
)

# --- every way to allocate with every way to free ---

# Sites that the makers by realloc share.
SHARED = ["take", "resize", "resize_array"]
# Makers of memory that the C library allocates: at least some of it is in a group.
IN_LIBC = [
    "make_strdup",
    "make_strndup",
    "make_asprintf",
    "make_getline",
    "make_memstream",
    "make_sscanf",
    "make_wcsdup",
    "make_realpath",
    "make_getcwd",
]


def at_most_aligned_to_16(plan: Plan) -> Plan:
    """Vector loops of the C library that align themselves look as if they needed more."""
    states = (state._replace(alignment=min(state.alignment, 16)) for state in plan.states)
    return replace(plan, states=tuple(states))


def packed(plan: Plan) -> Plan:
    """Every block aligned by its size alone: 8 bytes for one of 24."""
    return replace(plan, states=tuple(state._replace(alignment=0) for state in plan.states))


def without_groups_of(*functions: str) -> Callable[[Plan], Plan]:
    def change(plan: Plan) -> Plan:
        dropped = {at for name in functions for at in groups_of(plan, name)}
        assert dropped
        states = (
            s._replace(verdict=VERDICT_FORWARD) if s.verdict in dropped else s for s in plan.states
        )
        return replace(plan, states=tuple(states))

    return change


def groups_of(plan: Plan, function: str, frames: int | None = 1) -> list[int]:
    """The groups with a context that has the function among its innermost frames."""
    assert plan.review is not None
    pattern = re.compile(rf"\b{function}\b")
    return [
        at
        for at, group in enumerate(plan.review.groups)
        if any(
            pattern.search(frame) for member in group.contexts for frame in member.stack[:frames]
        )
    ]


@pytest.fixture(scope="module")
def cross(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    recorded = record(tmp_path_factory.mktemp("cross"), "cross.cc", "per-site", "briefly")
    return recorded.changed("grouped", at_most_aligned_to_16)


def exports(library: Path | None, function: str) -> bool:
    if library is None:
        return False
    command = ["nm", "--dynamic", "--defined-only", str(library)]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.search(rf" [TWi] {function}\b", symbols) is not None


def check_groups(recorded: Recorded, run: Run, library: Path | None = None) -> None:
    """What could be grouped was, to the last block; the library may have replaced functions of the
    C library that allocate."""
    assert run.status == 0, run.stderr
    made = made_of(run)
    plan = read_plan(recorded.plan)
    in_libc = [name for name in IN_LIBC if not exports(library, name.removeprefix("make_"))]
    counts = {
        name: sum(run.allocations[at] for at in groups_of(plan, name, frames))
        for names, frames in ((DIRECT, 1), (SHARED, 1), (in_libc, None))
        for name in names
    }
    assert {name: counts[name] for name in DIRECT} == {name: made[name] for name in DIRECT}
    assert min(counts.values()) > 0, counts


def check_all_freed(recorded: Recorded, run: Run) -> None:
    """Every way to free a block of a group returns it to the group."""
    plan = read_plan(recorded.plan)
    for name in (*DIRECT, *SHARED):
        for at in groups_of(plan, name):
            assert run.stats["groups"][at]["live_bytes"] == 0, name


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_every_pair_grouped(cross: Recorded, allocator: str) -> None:
    """Rows 17, 18, 19, 20: every legal pair, on blocks of groups."""
    run = cross.under(library_of(allocator), arguments=("here",))
    check_groups(cross, run, library_of(allocator))
    check_all_freed(cross, run)


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_every_pair_grouped_and_freed_by_another_thread(cross: Recorded, allocator: str) -> None:
    """Rows 17, 18, 19, 20: every way to free reaches the heap of the thread that allocated."""
    run = cross.under(library_of(allocator), arguments=("elsewhere",))
    check_groups(cross, run, library_of(allocator))


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_every_pair_forwarded(cross: Recorded, allocator: str) -> None:
    """Rows 17, 18, 19, 20: every legal pair, with nothing in a group.

    The next allocators lack free_sized and free_aligned_sized, jemalloc cfree and pvalloc too.
    """
    forwarded = cross.changed("forwarded", matching_nothing)
    run = forwarded.under(library_of(allocator), arguments=("here",))
    assert run.status == 0 and made_of(run), run.stderr
    assert run.stats["active"] and sum(run.allocations) == 0


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize(
    ("dropped", "kept"),
    [(("resize", "resize_array"), "take"), (("take",), "resize")],
    ids=["out", "in"],
)
def test_realloc_moves_out_of_groups_and_into_them(
    cross: Recorded, allocator: str, dropped: tuple[str, ...], kept: str
) -> None:
    """Row 17: only the first allocation is in a group, or only the reallocation is."""
    name = f"without_{dropped[0]}"
    moving = cross.changed(name, without_groups_of(*dropped))
    run = moving.under(library_of(allocator), arguments=("here",))
    assert run.status == 0 and made_of(run), run.stderr
    plan = read_plan(cross.plan)
    assert all(run.allocations[at] == 0 for name in dropped for at in groups_of(plan, name))
    assert all(run.allocations[at] > 0 for at in groups_of(plan, kept))


def reusing_chunks(plan: Plan) -> Plan:
    return replace(plan, groups=tuple(group._replace(reuse=1) for group in plan.groups))


def apart_by_size(plan: Plan) -> Plan:
    return replace(plan, groups=tuple(group._replace(by_size=True) for group in plan.groups))


@pytest.mark.parametrize("change", [packed, reusing_chunks, apart_by_size])
def test_every_pair_whatever_the_groups_are_like(
    cross: Recorded, change: Callable[[Plan], Plan]
) -> None:
    """Rows 17, 20: blocks of 8-byte steps, whole-chunk reuse, sizes kept apart."""
    other = cross.changed(change.__name__, change)
    for arguments in (("here",), ("elsewhere",)):
        check_groups(cross, other.under(arguments=arguments))


def test_every_pair_with_tunables(cross: Recorded) -> None:
    """Row 27: GLIBC_TUNABLES that change what the next allocator does and what it fills in."""
    check_groups(cross, cross.under(arguments=("here",), env=TUNABLES))


@pytest.mark.parametrize(
    ("source", "flags"),
    [("small_malloc.c", ("-DTOLERATES_NOTHING",)), ("wrapping_malloc.c", ())],
    ids=["small", "wrapping"],
)
@pytest.mark.parametrize("grouped", [True, False], ids=["grouped", "forwarded"])
def test_every_pair_over_an_allocator_that_lacks_symbols(
    cross: Recorded, tmp_path: Path, source: str, flags: tuple[str, ...], grouped: bool
) -> None:
    """Rows 3, 14, 17: no malloc_usable_size, reallocarray, valloc or pvalloc in the next allocator.

    The small one aborts on memory that is not its own, such as that of glibc's pvalloc; the
    wrapping one calls `__libc_malloc` and so on, which must not lead back to it.
    """
    library = preload_library(tmp_path, source, *flags)
    recorded = cross if grouped else cross.changed("forwarded", matching_nothing)
    run = recorded.under(library, arguments=("here", "unknown"))
    assert run.status == 0, run.stderr
    if grouped:
        check_groups(cross, run)
    else:
        assert made_of(run) and sum(run.allocations) == 0


# --- corner cases ---


@pytest.fixture(scope="module")
def corners(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("corners"), "corners.cc", "dense", "briefly")


def test_the_corner_cases_hold_for_glibc(corners: Recorded) -> None:
    """The expectations themselves, without the runtime."""
    assert output_without_us(corners.program).stdout == "done\n"


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("grouped", [True, False], ids=["grouped", "forwarded"])
def test_corner_cases(corners: Recorded, allocator: str, grouped: bool) -> None:
    """Rows 17, 18, 19, 20, 29: nothing fails that does not fail in the next allocator alone.

    Zero sizes, overflow, ENOMEM, bad alignment, memory zeroed on reuse, errno kept, null pointers.
    jemalloc alone has no pvalloc, so that a program would mix its memory with glibc's.
    """
    recorded = corners if grouped else corners.changed("forwarded", matching_nothing)
    run = recorded.under(library_of(allocator))
    assert run.status == 0 and run.stdout.endswith("done\n"), run.stderr
    without = ("without pvalloc",) if allocator == "jemalloc" else ()
    own = output_without_us(corners.program, *without, allocator=allocator)
    assert set(run.stdout.splitlines()) <= {*own.stdout.splitlines(), "done"}
    assert (sum(run.allocations) > 50000) is grouped


def test_corner_cases_with_tunables(corners: Recorded) -> None:
    """Row 27: memory that the C library fills on purpose is still zeroed by calloc."""
    run = corners.under(env=TUNABLES)
    assert (run.status, run.stdout) == (0, "done\n")
    assert sum(run.allocations) > 50000


OPTIONAL = ("malloc_usable_size", "valloc", "pvalloc", "__libc_free", "__libc_realloc")


@pytest.mark.parametrize("lacking", OPTIONAL)
@pytest.mark.parametrize("grouped", [True, False], ids=["grouped", "forwarded"])
def test_every_pair_when_one_symbol_is_not_found(
    cross: Recorded, tmp_path: Path, lacking: str, grouped: bool
) -> None:
    """Row 3: dlsym fails for one name, and all others are used as if nothing had happened."""
    shim = preload_library(tmp_path, "failing_dlsym.c", f'-DLACKING="{lacking}"')
    recorded = cross if grouped else cross.changed("forwarded", matching_nothing)
    unknown = ("unknown",) if lacking == "malloc_usable_size" else ()
    run = recorded.under(shim, arguments=("here", *unknown))
    if grouped:
        check_groups(cross, run)
    else:
        assert run.status == 0, run.stderr
        assert made_of(run) and sum(run.allocations) == 0


# --- pointers of others ---


def test_foreign_pointers_reach_the_next_allocator_unchanged(tmp_path: Path) -> None:
    """Row 13: by all ways to free, realloc and reallocarray; blocks of groups never get there."""
    recorded = record(tmp_path, "foreign.cc", "per-site")
    run = recorded.under(preload_library(tmp_path, "small_malloc.c"))
    assert (run.status, run.stdout) == (0, "done\n")
    assert max(run.allocations) >= 2000


# The allocators that serve, or replace, `__libc_malloc` and the like too.
REPLACING = ("glibc", "mimalloc", "tcmalloc")


@pytest.fixture(scope="module")
def libc_names(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("libc_names"), "libc_names.c", "per-site")


@pytest.mark.parametrize(
    ("part", "allocator"),
    [
        *((part, allocator) for part in ("grouped", "own", "mixed") for allocator in REPLACING),
        ("own", "jemalloc"),
    ],
)
def test_the_names_that_the_c_library_has_for_itself(
    libc_names: Recorded, part: str, allocator: str
) -> None:
    """Row 14: `__libc_free` and `__libc_realloc` of a group's block, and both ways of forwarding:
    from these names to `free`, and from `malloc` to these names.

    jemalloc does not replace these names: blocks of malloc crash there, with or without us.
    """
    run = libc_names.under(library_of(allocator), arguments=(part,))
    assert (run.status, run.stdout) == (0, "fine\n")
    assert max(run.allocations) >= (6000 if part == "grouped" else 1000)


LIKE_A_LINK = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct block { uint64_t first; char text[32]; };
struct block *make(void) { return malloc(sizeof(struct block)); }
enum { COUNT = 4000 };
static struct block *volatile freed[COUNT];
static volatile uint64_t words[COUNT];
int main(void) {
  int changed = 0, lost = 0;
  for (int i = 0; i < COUNT; i++) (freed[i] = make())->first = 1;
  for (int i = 0; i < COUNT; i++) free(freed[i]);
  for (int i = 0; i < COUNT; i++) words[i] = *(volatile uint64_t *)freed[i];
  for (int i = 0; i < COUNT; i++) {
    struct block *again = make();
    int before = COUNT - 1;
    while (before >= 0 && freed[before] != again) --before;
    const uint64_t word = before < 0 ? 1 : words[before];
    changed += word != 1;
    again->first = word;
    strcpy(again->text, "contents");
    again = realloc(again, 500);
    lost += again->first != word || strcmp(again->text, "contents");
  }
  printf("%d %d\n", changed > 0, lost);
  return 0;
}
"""


def test_contents_that_look_like_a_free_block_survive_realloc(tmp_path: Path) -> None:
    """Row 17: whatever the first word of a block is."""
    program = compile_program(tmp_path, LIKE_A_LINK)
    run = run_planned([str(program)], make_plan(tmp_path, [str(program)]))
    assert (run.status, run.stdout) == (0, "1 0\n")
