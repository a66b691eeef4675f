"""The whole allocation interface, grouped and forwarded, over each of the four next allocators.

Rows are those of the list of what breaks preloaded allocators, by what each is about:
1 dlsym that allocates; 2 free before main; 3 missing symbols; 13 foreign pointers; 14 `__libc_*`;
17 missing variants; 18 operator new and delete; 19 C23; 20 malloc_usable_size; 27 GLIBC_TUNABLES;
29 errno when memory is short.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from command import REPOSITORY
from planned import RUNTIME, Run, compile_program, make_plan, run_planned

from halo.allocators import find_allocator
from halo.plan import FORWARD, Plan, read_plan, write_plan

SOURCES = REPOSITORY / "tests" / "programs" / "interface"
FLAGS = ("-pthread", "-fno-builtin", f"-I{SOURCES}")
ALLOCATORS = ("glibc", "jemalloc", "mimalloc", "tcmalloc")
TUNABLES = {
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"
    ":glibc.malloc.mmap_threshold=5000"
}


@dataclass(frozen=True)
class Recorded:
    """A program and the plan that its recording led to."""

    program: Path
    plan: Path

    def under(
        self,
        *libraries: Path | None,
        arguments: tuple[str, ...] = (),
        env: Mapping[str, str] | None = None,
    ) -> Run:
        """A run under the plan, with these libraries after the runtime."""
        return run_planned(
            [str(self.program), *arguments],
            self.plan,
            env={"LD_PRELOAD": preloads(RUNTIME, *libraries), **(env or {})},
        )

    def changed(self, name: str, change: Callable[[Plan], Plan]) -> Recorded:
        path = self.plan.with_name(f"{name}.plan")
        write_plan(change(read_plan(self.plan)), path)
        return Recorded(self.program, path)


def preloads(*libraries: Path | None) -> str:
    return ":".join(str(library) for library in libraries if library is not None)


def library_of(allocator: str) -> Path | None:
    return find_allocator(allocator).library


def build(folder: Path, source: str, *flags: str, name: str = "") -> Path:
    text = (SOURCES / source).read_text()
    return compile_program(folder, text, *FLAGS, *flags, name=name or Path(source).stem)


def record(folder: Path, source: str, strategy: str, *arguments: str) -> Recorded:
    program = build(folder, source)
    options = ("--option", "coverage=1") if strategy == "per-site" else ()
    return Recorded(program, make_plan(folder, [str(program), *arguments], strategy, *options))


def preload_library(folder: Path, source: str, *flags: str) -> Path:
    return build(folder, source, "-shared", "-fPIC", *flags, name=f"{Path(source).stem}.so")


def output_without_us(
    program: Path, *arguments: str, allocator: str = "glibc"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments],
        env={**os.environ, "LD_PRELOAD": preloads(library_of(allocator))},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


# --- every way to allocate with every way to free ---

# Makers whose every block of groupable size is allocated at a call site of their own.
DIRECT = [
    "make_malloc",
    "make_calloc",
    "make_calloc_items",
    "make_realloc",
    "make_reallocarray",
    "make_new",
    "make_new_array",
    "make_new_nothrow",
    "make_new_array_nothrow",
]
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


def matching_nothing(plan: Plan) -> Plan:
    """The runtime is active, but no return address is where the plan says."""
    root, *others = plan.states
    return replace(
        plan, states=(root, *(state._replace(offset=state.offset + 1) for state in others))
    )


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
        states = (s._replace(verdict=FORWARD) if s.verdict in dropped else s for s in plan.states)
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


def made_of(run: Run) -> dict[str, int]:
    """Blocks of groupable size, by maker, as the program counted them."""
    *lines, last = run.stdout.splitlines()
    assert last == "fine", run.stderr
    return {name: int(count) for name, count in map(str.split, lines)}


def check_groups(recorded: Recorded, run: Run) -> None:
    """What could be grouped was, to the last block."""
    assert run.status == 0, run.stderr
    made = made_of(run)
    plan = read_plan(recorded.plan)
    counts = {
        name: sum(run.allocations[at] for at in groups_of(plan, name, frames))
        for names, frames in ((DIRECT, 1), (SHARED, 1), (IN_LIBC, None))
        for name in names
    }
    assert {name: counts[name] for name in DIRECT} == {name: made[name] for name in DIRECT}
    assert min(counts.values()) > 0, counts


def check_all_freed(recorded: Recorded, run: Run) -> None:
    """Every way to free a block of a group gives it back to the group."""
    plan = read_plan(recorded.plan)
    for name in (*DIRECT, *SHARED):
        for at in groups_of(plan, name):
            assert run.stats["groups"][at]["live_bytes"] == 0, name


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_every_pair_grouped(cross: Recorded, allocator: str) -> None:
    """Rows 17, 18, 19, 20: every legal pair, on blocks of groups."""
    run = cross.under(library_of(allocator), arguments=("here",))
    check_groups(cross, run)
    check_all_freed(cross, run)


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_every_pair_grouped_and_freed_by_another_thread(cross: Recorded, allocator: str) -> None:
    """Rows 17, 18, 19, 20: every way to free reaches the heap of the thread that allocated."""
    check_groups(cross, cross.under(library_of(allocator), arguments=("elsewhere",)))


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


# --- operator new when there is no memory ---

REFUSED = {
    "nothing": ("bad_alloc, 0 calls", "null, 0 calls"),
    "resets": ("bad_alloc, 3 calls", "null, 3 calls"),
    "throws": ("what the handler throws, 1 calls", "null, 1 calls"),
}
FORMS = ("new", "new[]", "aligned new", "aligned new[]")


def outcomes(handler: str) -> set[str]:
    """What the standard says, as lines of the program."""
    throwing, nothrow = REFUSED[handler]
    nothrow_forms = {form.replace("new", "nothrow new") for form in FORMS}
    return {f"{form}: {throwing}" for form in FORMS} | {
        f"{form}: {nothrow}" for form in nothrow_forms
    }


@pytest.fixture(scope="module", params=["dense", "everything"])
def refused(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Recorded:
    return record(tmp_path_factory.mktemp("refused"), "refused_new.cc", request.param)


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("handler", REFUSED)
def test_every_form_of_new_when_memory_is_refused(
    refused: Recorded, allocator: str, handler: str
) -> None:
    """Row 18: new handlers, bad_alloc and null pointers, as in the next allocator or better."""
    arguments = (handler, "refuse")
    own = output_without_us(refused.program, *arguments, allocator=allocator)
    run = refused.under(library_of(allocator), arguments=arguments)
    assert run.status in {0, own.returncode}
    allowed = set() if allocator == "glibc" else set(own.stdout.splitlines())
    assert set(run.stdout.splitlines()) <= outcomes(handler) | allowed
    if run.status == 0:
        assert len(run.stdout.splitlines()) == 2 * len(outcomes(handler))
        assert sum(run.allocations) >= 4 * 200


def limited_to(mebibytes: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))


@pytest.mark.parametrize("strategy", ["dense", "everything"])
def test_a_new_handler_can_give_memory_back(tmp_path: Path, strategy: str) -> None:
    """Row 18: when memory has really run out, what the handler frees is allocated again."""
    recorded = record(tmp_path, "recovering_new.cc", strategy)
    command = [str(recorded.program), "until there is no more"]
    run = run_planned(command, recorded.plan, preexec_fn=limited_to(640))
    assert (run.status, run.stdout) == (0, "2 calls, went on\n")
    assert sum(run.allocations) >= 1000


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("limited"), "limited.c", "dense")


@pytest.mark.parametrize("mebibytes", [200, 640])
def test_errno_when_address_space_is_short(limited: Recorded, mebibytes: int) -> None:
    """Row 29: errno is ENOMEM only when the next allocator has no memory, else unchanged."""
    command = [str(limited.program), "until there is no more"]
    run = run_planned(command, limited.plan, preexec_fn=limited_to(mebibytes))
    assert (run.status, run.stdout) == (0, "fine\n")
    assert mebibytes < 512 or sum(run.allocations) >= 1000


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


# --- before main, and inside dlsym ---

EARLY = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "strdup",
    "free",
    "__libc_free",
    "usable_size",
    "newlocale",
    "dlsym",
    "free of another's",
    "realloc of another's",
    "reallocarray of another's",
    "__libc_realloc of another's",
    "usable_size of another's",
]


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("early"), "early.c", "per-site", "malloc", "20")


@pytest.mark.parametrize("action", EARLY)
def test_before_any_constructor(early: Recorded, action: str) -> None:
    """Rows 1, 2: from preinit_array and constructors; the blocks are grown and freed in main."""
    run = early.under(arguments=(action, "1000"))
    assert (run.status, run.stdout) == (0, "0\n")
    assert max(run.allocations) == 1000


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_before_any_constructor_of_the_next_allocator(early: Recorded, allocator: str) -> None:
    """Rows 1, 2, 14: it is found by a bad dlsym, by a way to free, or by a plain request."""
    for action in ("dlsym", "free", "__libc_free", "calloc"):
        run = early.under(library_of(allocator), arguments=(action, "1000"))
        assert (run.status, run.stdout) == (0, "0\n")
        assert max(run.allocations) == 1000


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("size", [1, 40, 16384])
def test_a_dlsym_that_allocates(early: Recorded, tmp_path: Path, allocator: str, size: int) -> None:
    """Row 1: the runtime's first memory survives free, realloc and malloc_usable_size.

    With the largest size it is used up long before the next allocator is found.
    """
    shim = preload_library(tmp_path, "allocating_dlsym.c", f"-DBYTES={size}")
    run = early.under(shim, library_of(allocator), arguments=("malloc", "1000"))
    assert run.status == 0, run.stderr
    assert int(run.stdout) >= (1 if size > 1000 else 40)
    assert max(run.allocations) == 1000


def test_a_dlsym_that_frees_what_it_did_not_allocate_there(early: Recorded, tmp_path: Path) -> None:
    """Row 2: blocks of the next allocator on every call, before its free is known."""
    shim = preload_library(tmp_path, "allocating_dlsym.c", "-DFREES_OTHERS")
    run = early.under(shim, arguments=("malloc", "1000"))
    assert run.status == 0 and int(run.stdout) > 0, run.stderr
    assert max(run.allocations) == 1000


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
