"""What libhalo.so is as a library: its symbols, its jumps, and how it steps aside."""

from __future__ import annotations

import re
import resource
import subprocess
from pathlib import Path

import pytest

from support.command import LOADER
from support.planned import EXTRA_RUNTIME, RUNTIME, compile_program, make_plan, run_planned

# Everything the library exports: 20 forms of operator new and delete among it.
EXPORTS = """
aligned_alloc calloc cfree dlclose dlopen free free_aligned_sized free_sized malloc
mallinfo mallinfo2 malloc_info malloc_stats malloc_trim
malloc_usable_size memalign posix_memalign pvalloc realloc reallocarray valloc
__libc_free __libc_realloc
mmap mmap64 mprotect pkey_mprotect shmat
halo_allocate_in_group halo_group_count halo_group_of_request
_Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t
_ZnwmSt11align_val_t _ZnamSt11align_val_t
_ZnwmSt11align_val_tRKSt9nothrow_t _ZnamSt11align_val_tRKSt9nothrow_t
_ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t
_ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t
_ZdlPvSt11align_val_tRKSt9nothrow_t _ZdaPvSt11align_val_tRKSt9nothrow_t
"""


def output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("library", [RUNTIME, EXTRA_RUNTIME], ids=["core", "extra"])
def test_exports_are_the_allocation_interface_and_what_aging_asks(library: Path) -> None:
    listed = output("nm", "-D", "--defined-only", library).splitlines()
    assert {line.split()[-1] for line in listed} == set(EXPORTS.split())


@pytest.mark.parametrize(("library", "most"), [(RUNTIME, 64), (EXTRA_RUNTIME, 72)])
def test_thread_locals_are_initial_exec_and_small(library: Path, most: int) -> None:
    assert "DTPMOD64" not in output("readelf", "-rW", library)
    tls = re.search(r"TLS +0x\w+ 0x\w+ 0x\w+ 0x\w+ (0x\w+)", output("readelf", "-lW", library))
    assert tls is not None and int(tls.group(1), 16) <= most


@pytest.mark.parametrize("library", [RUNTIME, EXTRA_RUNTIME], ids=["core", "extra"])
def test_it_needs_nothing_but_libc(library: Path) -> None:
    needed = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", library))
    assert set(needed) == {"libc.so.6", "ld-linux-x86-64.so.2"}


# Functions that glibc moved into libc.so.6. Before 2.30 the loader accepts a reference with a
# version only from the file that it names, so these have none. They are weak, as the program need
# not have loaded the library that has them.
MOVED = re.compile(r"dl(sym|vsym|addr1?|open|close|error|info)|pthread_(key|once|setspecific)\w*")


@pytest.mark.parametrize(
    "name",
    [
        "libhalo",
        "libhalo-extra",
        "libhalo-check",
        "libhalo-detector",
        "libhalo-litterer",
        "libhalo-tidy",
    ],
)
def test_preloaded_libraries_start_under_old_c_libraries(name: str) -> None:
    """Children may have another C library than the program: snaps, containers, conda."""
    symbols = output("readelf", "-W", "--dyn-syms", RUNTIME.with_name(f"{name}.so"))
    imported = re.findall(r" (WEAK|GLOBAL) +\w+ +UND (\w+)(?:@GLIBC_([0-9.]+))?", symbols)
    assert imported
    versions = {tuple(map(int, version.split("."))) for _, _, version in imported if version}
    assert max(versions) <= (2, 17)
    moved = [(bind, version) for bind, function, version in imported if MOVED.fullmatch(function)]
    assert moved and set(moved) == {("WEAK", "")}


@pytest.mark.parametrize(
    "name",
    [
        *("malloc", "halo_serve_malloc", "calloc", "realloc", "reallocarray"),
        *("_Znwm", "halo_serve_new", "_Znam"),
    ],
)
def test_trampolines_are_entered_by_a_jump(name: str) -> None:
    """They take the word on top of the stack for the program's return address."""
    code = output("objdump", "-d", "--no-show-raw-insn", f"--disassemble={name}", RUNTIME)
    body = code[code.index(f"<{name}>:") :]
    entered = re.findall(r"(call|j\w+) .*<(?:halo_(?:enter|serve)_\w+|_Znwm)(?:@plt)?>", body)
    assert entered and "call" not in entered


MIXED = r"""
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { count = 20000 };
static void *slots[4][count];
static void fill(void **into, unsigned seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1103515245 + 12345;
    size_t n = 1 + (seed >> 16) % 200;
    char *p;
    switch (i % 4) {
      case 0: p = malloc(n); break;
      case 1: p = calloc(n, 1); for (size_t k = 0; k < n; ++k) if (p[k]) abort(); break;
      case 2: p = realloc(malloc(n / 2 + 1), n); break;
      default: p = aligned_alloc(64, n); if ((uintptr_t)p % 64) abort(); break;
    }
    if (malloc_usable_size(p) < n || (uintptr_t)p % 8) abort();
    memset(p, i, n);
    into[i] = p;
  }
}
static void drop(void **from) {
  for (int i = 0; i < count; ++i) {
    if (*(unsigned char *)from[i] != (unsigned char)i) abort();
    free(from[i]);
  }
}
static void *filler(void *at) { fill(at, 7); return NULL; }
static void *dropper(void *at) { drop(at); return NULL; }
int main(void) {
  pthread_t threads[4];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, filler, slots[i]);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, dropper, slots[3 - i]);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  }
  puts("fine");
}
"""


@pytest.fixture
def mixed(tmp_path: Path) -> tuple[Path, Path]:
    program = compile_program(tmp_path, MIXED, "-pthread")
    return program, make_plan(tmp_path, [str(program)], "dense")


def test_every_way_to_allocate_meets_every_thread(mixed: tuple[Path, Path]) -> None:
    program, plan = mixed
    run = run_planned([str(program)], plan)
    assert (run.status, run.stdout) == (0, "fine\n")
    assert sum(run.allocations) >= 3 * 4 * 20000 * 3 / 4


def test_a_program_that_the_loader_starts_is_known(mixed: tuple[Path, Path]) -> None:
    """As some environments start programs: the executable of the process is the loader."""
    program, plan = mixed
    run = run_planned([LOADER, "--inhibit-cache", str(program)], plan)
    assert (run.status, run.stdout) == (0, "fine\n")
    assert sum(run.allocations) >= 3 * 4 * 20000 * 3 / 4


@pytest.mark.parametrize("reuse", ["newest", "chunks"])
def test_both_ways_of_reuse_are_right(tmp_path: Path, reuse: str) -> None:
    program = compile_program(tmp_path, MIXED, "-pthread")
    plan = make_plan(tmp_path, [str(program)], "dense", "--option", f"reuse={reuse}")
    run = run_planned([str(program)], plan)
    assert (run.status, run.stdout) == (0, "fine\n")


@pytest.mark.parametrize("mebibytes", [300, 600, 2000])
def test_it_forwards_where_address_space_is_short(mixed: tuple[Path, Path], mebibytes: int) -> None:
    program, plan = mixed

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))

    plain = subprocess.run([program], preexec_fn=limit, capture_output=True, text=True, check=False)
    run = run_planned([str(program)], plan, preexec_fn=limit)
    assert (run.status, run.stdout) == (plain.returncode, plain.stdout)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda data: b"", "the plan is empty"),
        (lambda data: data[:-1], "the plan is cut short"),
        (lambda data: data[:8] + b"\x7f" + data[9:], "the plan is of a newer version"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "the plan is damaged"),
        (lambda data: b"#!/bin/sh\n" * 50, "the file is not a plan"),
    ],
    ids=["empty", "short", "newer", "damaged", "foreign"],
)
def test_a_bad_plan_costs_one_sentence(
    mixed: tuple[Path, Path], damage: object, sentence: str
) -> None:
    program, plan = mixed
    plan.write_bytes(damage(plan.read_bytes()))  # type: ignore[operator]
    run = run_planned([str(program)], plan)
    assert (run.status, run.stdout) == (0, "fine\n")
    assert run.stderr.count("\n") == 1 and run.stderr.startswith(f"halo: {sentence}")
    assert not run.stats["active"]


def test_another_build_is_left_alone(mixed: tuple[Path, Path], tmp_path: Path) -> None:
    _, plan = mixed
    other = compile_program(tmp_path, MIXED.replace("fine", "other"), "-pthread", name="other")
    run = run_planned([str(other)], plan)
    assert (run.status, run.stdout, run.stderr) == (0, "other\n", "")
    # What the C library allocates for itself may be in the plan; the program's own is not.
    assert sum(run.allocations) < 100


def test_children_of_another_binary_are_left_alone(mixed: tuple[Path, Path]) -> None:
    _, plan = mixed
    run = run_planned(["/bin/sh", "-c", "echo one; ls / >/dev/null && echo two"], plan)
    assert (run.status, run.stdout, run.stderr) == (0, "one\ntwo\n", "")


NEW_FORMS = r"""
#include <new>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
struct alignas(64) Wide { char c[128]; };
static int handled = 0;
static void handler() { if (++handled == 3) std::set_new_handler(nullptr); }
int main() {
  for (int i = 0; i < 1000; ++i) {
    int *a = new int(i); int *b = new int[i + 1]; int *c = new (std::nothrow) int;
    Wide *d = new Wide; Wide *e = new Wide[3];
    if (std::uintptr_t(d) % 64 || std::uintptr_t(e) % 64) abort();
    *a = *b = *c = 1;
    delete a; delete[] b; delete c; delete d; delete[] e;
  }
  volatile std::size_t huge = SIZE_MAX / 2;
  std::set_new_handler(handler);
  try { ::operator new(huge); return 1; } catch (const std::bad_alloc &) {}
  if (handled != 3 || ::operator new(huge, std::nothrow) != nullptr) return 2;
  std::puts("fine");
}
"""


def test_every_form_of_new_and_delete(tmp_path: Path) -> None:
    program = compile_program(tmp_path, NEW_FORMS)
    run = run_planned([str(program)], make_plan(tmp_path, [str(program)], "dense"))
    assert (run.status, run.stdout) == (0, "fine\n")
    assert sum(run.allocations) >= 3000


REPLACED = r"""
#include <new>
#include <cstdio>
#include <cstdlib>
#include <cstring>
static long made = 0, gone = 0;
void *operator new(std::size_t n) {  // keeps a mark in front of each object
  char *p = static_cast<char *>(std::malloc(n + 16));
  std::memset(p, 77, 16);
  ++made;
  return p + 16;
}
void operator delete(void *p) noexcept {
  if (!p) return;
  char *q = static_cast<char *>(p) - 16;
  if (*q != 77) std::abort();
  ++gone;
  std::free(q);
}
struct Thing { long a[5]; };
int main() {
  for (int i = 0; i < 500; ++i) {
    Thing *a = new Thing; Thing *b = new Thing[3]; int *c = new (std::nothrow) int;
    a->a[0] = b->a[0] = *c = i;
    delete a; delete[] b; delete c;
  }
  std::printf("%ld %ld\n", made, gone);
}
"""


def test_operators_that_the_program_replaces_are_kept(tmp_path: Path) -> None:
    """Its own new and delete serve all forms that rest on them, the sized delete among them."""
    program = compile_program(tmp_path, REPLACED)
    run = run_planned([str(program)], make_plan(tmp_path, [str(program)], "dense"))
    assert (run.status, run.stdout) == (0, "1500 1500\n")


TURNS_HUGE = r"""
#include <new>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
int main(int argc, char **argv) {
  long failed = 0;
  for (int i = 0; i < 100; ++i) {
    std::size_t n = argc > 1 && i == 50 ? SIZE_MAX / 2 : 24;
    char *p = new (std::nothrow) char[n];
    if (p) p[0] = 1; else ++failed;
    delete[] p;
  }
  std::printf("%ld\n", failed);
}
"""


def test_nothrow_new_never_throws_at_a_planned_site(tmp_path: Path) -> None:
    program = compile_program(tmp_path, TURNS_HUGE)
    plan = make_plan(tmp_path, [str(program)], "dense")
    run = run_planned([str(program), "huge"], plan)
    assert (run.status, run.stdout) == (0, "1\n")
    assert max(run.allocations) >= 99


SMALL_C = r"""
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *opens(void *name) { return dlopen(name, RTLD_NOW); }
int main(int argc, char **argv) {
  const char *before = dlerror();
  errno = 0;
  for (int i = 0; i < atoi(argv[2]); ++i) { char *p = malloc(40); p[0] = 1; if (i % 2) free(p); }
  int changed = errno;
  pthread_t thread;
  void *handle;
  pthread_create(&thread, NULL, opens, argv[1]);
  pthread_join(thread, &handle);
  void *(*make)(size_t) = (void *(*)(size_t))dlsym(handle, "plugin_make");
  for (int i = 0; i < 50; ++i) free(make(32));
  printf("%s %d\n", before ? before : "none", changed);
}
"""

PLUGIN = r"""
#include <stdlib.h>
void *plugin_make(size_t n) { char *p = malloc(n); p[0] = 1; return p; }
"""


def test_a_c_program_notices_nothing(tmp_path: Path) -> None:
    """No left-over dlerror, no errno from our own calls; a thread may end right after dlopen."""
    plugin = compile_program(tmp_path, PLUGIN, "-shared", "-fPIC", name="plugin.so")
    program = compile_program(tmp_path, SMALL_C, "-pthread")
    plan = make_plan(
        tmp_path, [str(program), str(plugin), "9"], "per-site", "--option", "coverage=1"
    )
    run = run_planned([str(program), str(plugin), "300000"], plan)
    assert (run.status, run.stdout) == (0, "none 0\n")
    assert 50 in run.allocations and 300000 in run.allocations


def test_a_plan_that_is_overwritten_in_place_does_no_harm(tmp_path: Path) -> None:
    program = compile_program(tmp_path, MIXED, "-pthread")
    plan = make_plan(tmp_path, [str(program)], "dense")
    overwrite = f"sleep 0.05; : > {plan}"
    subprocess.Popen(["/bin/sh", "-c", overwrite])
    run = run_planned([str(program)], plan)
    assert (run.status, run.stdout) == (0, "fine\n")
