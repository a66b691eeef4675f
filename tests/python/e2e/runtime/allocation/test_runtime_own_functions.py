"""The functions that allocators have beside malloc's family, on blocks of groups and on others."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from halo.plan.model import Spans
from halo.plan.runtimes import runtime_of
from halo.ship.doctor.allocator_functions import TAKES_A_BLOCK, WITHOUT_A_BLOCK
from support.command import REPOSITORY
from support.planned import RUNTIME, Run, compile_program, make_plan, run_planned
from support.programs.interface import SOURCES, build, library_of, preloads
from support.spans import plan_of_large, record_large

ALLOCATORS = ("jemalloc", "mimalloc", "tcmalloc")
# What binds a program's calls of the allocator's functions: weak ones to a preloaded library, or
# those of a program that is linked with it.
BINDINGS = {
    "preloaded": (),
    "linked": ("-DLINKED", "-Wl,-z,now"),
    "lazy": ("-no-pie", "-Wl,-z,lazy"),
}


@dataclass(frozen=True)
class OwnFunctions:
    """A program that calls an allocator's own functions, and its plan that groups everything."""

    allocator: str
    folder: Path

    @property
    def library(self) -> Path:
        found = library_of(self.allocator)
        assert found is not None
        return found

    def build(self, *flags: str, name: str) -> Path:
        return build(self.folder, f"own_{self.allocator}.c", *flags, name=name)

    def program(self, binding: str) -> Path:
        flags = [flag for flag in BINDINGS[binding] if flag != "-DLINKED" or self.has_all]
        linked = (f"-Wl,--no-as-needed,{self.library}",) if binding != "preloaded" else ()
        return self.build(*flags, *linked, name=f"prog-{binding}")

    @property
    def has_all(self) -> bool:
        """Whether the library has every function that the program knows."""
        return self.allocator != "mimalloc"

    def ways(self) -> list[list[str]]:
        """How the program reaches the functions."""
        opened = self.build("-DLIBRARY", "-shared", "-fPIC", name="libown.so")
        return [
            ["direct"],
            ["pointer"],
            ["default"],
            ["handle", str(self.library)],
            ["library", str(opened)],
        ]

    def plan(self, program: Path, strategy: str = "everything", *options: str) -> Path:
        return make_plan(self.folder, [str(program), "free"], strategy, *options)

    def run(self, program: Path, plan: Path, way: list[str]) -> Run:
        preloaded = self.library if "preloaded" in program.name else None
        env = {"LD_PRELOAD": preloads(runtime_of(RUNTIME, plan), preloaded)}
        return run_planned([str(program), *way], plan, env=env)


def check(run: Run) -> None:
    """Every block that was freed has returned to its group."""
    assert (run.status, run.stdout) == (0, "fine\n"), run.stderr
    assert sum(run.allocations) > 10000, run.stats
    # What is left: the C library's buffers, and what a thread and dlopen keep.
    assert sum(group["live_bytes"] for group in run.stats["groups"]) < 32768


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_own_functions_serve_blocks_of_groups(tmp_path: Path, allocator: str, binding: str) -> None:
    """However the program reaches them."""
    own = OwnFunctions(allocator, tmp_path)
    program = own.program(binding)
    plan = own.plan(program)
    for way in own.ways():
        check(own.run(program, plan, way))


STRATEGIES = {
    "walk": ("per-site", "--option", "coverage=1"),
    "selectors": ("dense", "--identification", "selectors"),
    "random": ("random-pools", "--option", "pools=2"),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_own_functions_under_every_kind_of_plan(
    tmp_path: Path, allocator: str, strategy: str
) -> None:
    own = OwnFunctions(allocator, tmp_path)
    program = own.program("preloaded")
    check(own.run(program, own.plan(program, *STRATEGIES[strategy]), ["direct"]))


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_own_functions_serve_spans(tmp_path: Path, allocator: str) -> None:
    own = OwnFunctions(allocator, tmp_path)
    program = own.program("preloaded")
    profile = record_large([str(program), "free"], tmp_path / "prog.profile")
    plan_of_large(profile, Spans(), tmp_path / "prog.plan")
    run = own.run(program, tmp_path / "prog.plan", ["direct"])
    assert (run.status, run.stdout) == (0, "fine\n"), run.stderr
    assert run.stats["spans"]["allocations"] >= 6
    assert run.stats["spans"]["live_bytes"] == 0


# A calloc of a reused span, which mi_rezalloc and mi_recalloc enlarge: mimalloc's own blocks are
# zeroed as a whole, so both read as zeroes.
ZEROED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *mi_rezalloc(void *, size_t);
void *mi_recalloc(void *, size_t, size_t);
enum { OLD = 400000, COUNT = 8 };
__attribute__((noinline)) static char *dirty(void) { return malloc(500000); }
__attribute__((noinline)) static char *zeroed(void) { return calloc(1, OLD); }
int main(int argc, char **argv) {
  char *blocks[COUNT];
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < COUNT; ++i) memset(blocks[i] = dirty(), 0x5a, 500000);
    for (int i = 0; i < COUNT; ++i) free(blocks[i]);
  }
  for (int i = 0; i < COUNT; ++i) memset(blocks[i] = zeroed(), 0, OLD);
  long bad = 0;
  for (int i = 0; i < COUNT && argc > 1; ++i) {
    blocks[i] = i % 2 ? mi_rezalloc(blocks[i], 2 * OLD) : mi_recalloc(blocks[i], 2, OLD);
    for (int at = 0; at < 2 * OLD; ++at) bad += blocks[i][at] != 0;
  }
  printf("%ld\n", bad);
  for (int i = 0; i < COUNT; ++i) free(blocks[i]);
}
"""


def test_zeroed_spans_of_mimalloc_stay_zeroed(tmp_path: Path) -> None:
    library = library_of("mimalloc")
    program = compile_program(tmp_path, ZEROED, f"-Wl,--no-as-needed,{library}")
    profile, plan = tmp_path / "prog.profile", tmp_path / "prog.plan"
    plan_of_large(record_large([str(program)], profile), Spans(), plan)
    run = run_planned([str(program), "enlarge"], plan)
    assert (run.status, run.stdout, run.stderr) == (0, "0\n", "")
    assert run.stats["spans"]["allocations"] > 240


@pytest.mark.parametrize("count", ["1", "1000000"], ids=["one", "all from there on"])
def test_nothing_is_grouped_unless_all_own_functions_are_replaced(
    tmp_path: Path, count: str
) -> None:
    """The kernel refuses each mprotect in turn, until a run makes fewer calls."""
    own = OwnFunctions("jemalloc", tmp_path)
    program = own.program("linked")
    plan = own.plan(program)
    source = (REPOSITORY / "tests" / "programs" / "failure" / "failing.c").read_text()
    failing = compile_program(tmp_path, source, "-shared", "-fPIC", name="failing.so")
    refused = 0
    for at in range(1, 100):
        env = {"LD_PRELOAD": preloads(RUNTIME, failing), "FAIL_CALL": "mprotect"}
        env |= {"FAIL_AT": str(at), "FAIL_COUNT": count}
        run = run_planned([str(program), "pointer"], plan, env=env)
        assert (run.status, run.stdout) == (0, "fine\n"), run.stderr
        refused += "own functions cannot be replaced" in run.stats["reason"]
        if "failed 0 of" in run.stderr:
            break
    assert refused > 0


# Its table of functions lies among its constants, which the linker relocates nevertheless.
TEXT_RELOCATED = r"""
#include <stddef.h>
#include <stdlib.h>
void sdallocx(void *, size_t, int);
__asm__(".section .rodata\n.globl table\n.balign 8\ntable: .quad sdallocx\n.previous");
extern void (*const table[])(void *, size_t, int);
void release(void *p, size_t size) { table[0](p, size, 0); }
"""
USES_RELOCATED = r"""
#include <stdio.h>
#include <stdlib.h>
void release(void *, size_t);
int main(void) {
  for (int i = 0; i < 1000; ++i) release(malloc(40), 40);
  puts("fine");
}
"""


def check_nothing_is_grouped(run: Run) -> None:
    assert (run.status, run.stdout, run.stderr) == (0, "fine\n", "")
    assert "own functions cannot be replaced" in run.stats["reason"]


def test_nothing_is_grouped_if_a_call_lies_in_memory_that_is_not_writable(tmp_path: Path) -> None:
    """A text relocation: writing there would fault."""
    jemalloc = library_of("jemalloc")
    flags = ("-shared", "-fPIC", "-Wl,-z,notext", f"-Wl,--no-as-needed,{jemalloc}")
    library = compile_program(tmp_path, TEXT_RELOCATED, *flags, name="librelocated.so")
    program = compile_program(tmp_path, USES_RELOCATED, f"-Wl,{library},{jemalloc}")
    plan = make_plan(tmp_path, [str(program)], "everything")
    check_nothing_is_grouped(run_planned([str(program)], plan))


# An allocator with names of jemalloc, over the C library's.
WITHIN_CODE = r"""
#include <stddef.h>
void *__libc_malloc(size_t); void __libc_free(void *);
void *__libc_realloc(void *, size_t); void *__libc_calloc(size_t, size_t);
void *malloc(size_t n) { return __libc_malloc(n); }
void free(void *p) { __libc_free(p); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
void *calloc(size_t count, size_t n) { return __libc_calloc(count, n); }
void *mallocx(size_t n, int flags) { return malloc(n); }
void sdallocx(void *p, size_t n, int flags) { free(p); }
"""
USES_SDALLOCX = r"""
#include <stdio.h>
#include <stdlib.h>
void sdallocx(void *, size_t, int);
int main(void) {
  for (int i = 0; i < 1000; ++i) sdallocx(malloc(40), 40, 0);
  puts("fine");
}
"""
# The C library's own call of the kernel, which the runtime's passes through.
WATCHES_PROTECTION = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int mprotect(void *at, size_t bytes, int rights) {
  if ((rights & PROT_WRITE) && (rights & PROT_EXEC)) abort();
  return syscall(SYS_mprotect, at, bytes, rights);
}
"""


def test_symbols_among_code_stay_and_nothing_is_grouped(tmp_path: Path) -> None:
    """To replace them, code would have to be writable."""
    flags = ("-shared", "-fPIC", "-Wl,-z,noseparate-code")
    library = compile_program(tmp_path, WITHIN_CODE, *flags, name="liballocator.so")
    watching = compile_program(
        tmp_path, WATCHES_PROTECTION, "-shared", "-fPIC", name="libwatching.so"
    )
    program = compile_program(tmp_path, USES_SDALLOCX, f"-Wl,{library}")
    plan = make_plan(tmp_path, [str(program)], "everything")
    env = {"LD_PRELOAD": preloads(RUNTIME, watching)}
    check_nothing_is_grouped(run_planned([str(program)], plan, env=env))


# Prints, for functions of three allocators, whether a weak symbol and the default look-up find one,
# and the file in which the one of a library lies that is opened apart from all others.
PRESENCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define WEAK(name) __attribute__((weak)) void name(void);
#define PRINT(name) print(#name, name);
#define ALL(X) X(sdallocx) X(mallctl) X(mi_free) X(mi_usable_size) X(tc_free) X(tc_malloc_size)
ALL(WEAK)
static void *library;
static const char *file_of(void *function) {
  Dl_info info;
  if (function == NULL) return "none";
  return dladdr(function, &info) ? strrchr(info.dli_fname, '/') + 1 : "unknown";
}
static void print(const char *name, void *weak) {
  printf("%s %s %s %s\n", name, file_of(weak), file_of(dlsym(RTLD_DEFAULT, name)),
         file_of(library ? dlsym(library, name) : NULL));
}
int main(int argc, char **argv) {
  char *volatile mine[64];
  for (int i = 0; i < 64; ++i) mine[i] = malloc(24), mine[i][0] = 1;
  for (int i = 0; i < 64; ++i) free(mine[i]);
  if (argc > 1) library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  ALL(PRINT)
  return 0;
}
"""


def rows_of(text: str) -> dict[str, list[str]]:
    return {name: files for name, *files in map(str.split, text.splitlines())}


@pytest.mark.parametrize("opened", ["mimalloc", "tcmalloc"])
def test_functions_that_the_next_allocator_lacks_stay_invisible(
    tmp_path: Path, opened: str
) -> None:
    """Programs ask for them to detect an allocator, and open libraries with an own copy of one."""
    program = compile_program(tmp_path, PRESENCE)
    plan = make_plan(tmp_path, [str(program)], "everything")
    library = library_of(opened)
    assert library is not None
    natively = subprocess.run([program, library], capture_output=True, text=True, check=True)
    run = run_planned([str(program), str(library)], plan)
    assert sum(run.allocations) >= 64
    assert rows_of(run.stdout) == rows_of(natively.stdout)
    rows = rows_of(run.stdout).values()
    assert {row[0] for row in rows} == {row[1] for row in rows} == {"none"}
    assert any(row[2] != "none" for row in rows)


def test_own_functions_are_left_alone_in_a_process_that_no_plan_serves(tmp_path: Path) -> None:
    program = compile_program(tmp_path, PRESENCE)
    make_plan(tmp_path, [str(compile_program(tmp_path, PRESENCE, "-DOTHER", "-g", name="other"))])
    library = library_of("jemalloc")
    run = run_planned(
        [str(program)], tmp_path / "prog.plan", env={"LD_PRELOAD": preloads(RUNTIME, library)}
    )
    assert not run.stats["active"]
    assert library is not None
    file = library.resolve().name
    assert rows_of(run.stdout)["sdallocx"][:2] == [file, file]


SOURCE_OF = {
    "jemalloc": "jemalloc.cc",
    "mimalloc": "mimalloc.cc",
    "tcmalloc": "gperftools.cc",
}


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_every_own_function_that_takes_a_block_is_replaced_and_tested(allocator: str) -> None:
    library = library_of(allocator)
    listed = subprocess.run(
        ["nm", "--dynamic", "--defined-only", str(library)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    exported = {line.split()[-1] for line in listed.splitlines()}
    folder = REPOSITORY / "src" / "runtime" / "entry" / "allocators"
    replaced = set(re.findall(r"\bX\((\w+),", (folder / SOURCE_OF[allocator]).read_text()))
    tested = set(re.findall(r"\bX\([^,]+, (\w+),", (SOURCES / f"own_{allocator}.c").read_text()))
    with_block = {name for name in exported if TAKES_A_BLOCK.fullmatch(name)}
    assert with_block - WITHOUT_A_BLOCK <= replaced
    assert {name for name in replaced if not name.startswith("_ZN")} <= tested | {"mi_heap_main"}
