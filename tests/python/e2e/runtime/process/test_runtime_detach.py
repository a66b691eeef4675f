"""In a process that no plan serves, calls no longer lead through the runtime."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from halo.binary.process.allocators import find_allocator
from halo.plan import read_plan, write_plan
from support.planned import RUNTIME, compile_program, make_plan, run_planned

# Prints, for each address among its arguments, the file that the function lies in whose address is
# there, and whether that page may be written.
SLOTS = r"""
#include <new>
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char writable(unsigned long at) {
  char line[512], answer = '?', mode[5];
  FILE *maps = fopen("/proc/self/maps", "r");
  for (unsigned long from, to; fgets(line, sizeof line, maps);)
    if (sscanf(line, "%lx-%lx %4s", &from, &to, mode) == 3 && from <= at && at < to)
      answer = mode[1];
  fclose(maps);
  return answer;
}
int main(int argc, char **argv) {
  if (argc > 100) { // so that there are such calls
    int *p = new int;
    delete p;
    free(realloc(calloc(argc, argc), malloc_usable_size(memalign(argc, 64))));
  }
  for (int i = 1; i < argc; ++i) {
    const unsigned long at = strtoul(argv[i], nullptr, 16);
    void *function = *reinterpret_cast<void **>(at);
    Dl_info info{};
    const char *file = dladdr(function, &info) ? strrchr(info.dli_fname, '/') + 1 : "nowhere";
    printf("%s %c\n", strncmp(file, "slots", 5) == 0 ? "unresolved" : file, writable(at));
  }
  char *volatile mine[64];
  for (auto &p : mine) p = static_cast<char *>(malloc(24));
  for (auto &p : mine) *p = 1;
  for (auto &p : mine) free(p);
}
"""
OTHER = r"""
#include <stdlib.h>
int main(void) {
  for (int i = 0; i < 100; ++i) { char *volatile p = malloc(24); *p = 1; free(p); }
  return 0;
}
"""
NAMES = (
    "malloc",
    "calloc",
    "realloc",
    "free",
    "memalign",
    "malloc_usable_size",
    "_Znwm",
    "_ZdlPvm",
)
LIBC, LIBSTDCXX = "libc.so.6", "libstdc++.so.6"


def slots_of(program: Path) -> list[str]:
    """Where the jump slots of NAMES are, hex; the program is at a fixed address."""
    listed = subprocess.run(
        ["readelf", "-rW", str(program)], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in listed.splitlines() if "R_X86_64_JUMP_SLO" in line]
    by_name = {row[4].split("@")[0]: row[0] for row in rows}
    return [by_name[name] for name in NAMES]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two programs that differ in binding, and a plan for a third."""
    folder = tmp_path_factory.mktemp("built")
    for binding in ("now", "lazy"):
        compile_program(
            folder, SLOTS, "-no-pie", f"-Wl,-z,relro,-z,{binding}", name=f"slots-{binding}"
        )
    make_plan(folder, [str(compile_program(folder, OTHER))], "dense")
    return folder


def linked(library: Path) -> list[str]:
    """The flags that link a program with that library, wherever it is started."""
    folder = library.parent
    return [f"-L{folder}", f"-l{library.stem.removeprefix('lib')}", f"-Wl,-rpath,{folder}"]


def where_calls_lead(program: Path, plan: Path, runtime: str = str(RUNTIME)) -> list[list[str]]:
    run = run_planned([str(program), *slots_of(program)], plan, env={"LD_PRELOAD": runtime})
    assert (run.status, run.stderr) == (0, "")
    assert not run.stats["active"]
    return [line.split() for line in run.stdout.splitlines()]


@pytest.mark.parametrize(("binding", "mode"), [("now", "-"), ("lazy", "w")])
def test_calls_lead_where_they_would_without_the_runtime(
    built: Path, binding: str, mode: str
) -> None:
    """And what the dynamic linker had made read-only is so again."""
    found = where_calls_lead(built / f"slots-{binding}", built / "prog.plan")
    assert found == [[LIBC, mode]] * 6 + [[LIBSTDCXX, mode]] * 2


@pytest.mark.parametrize("allocator", ["jemalloc", "mimalloc", "tcmalloc"])
def test_calls_lead_to_the_next_allocator(built: Path, allocator: str) -> None:
    found = find_allocator(allocator)
    library = found.library
    assert library is not None
    modes = where_calls_lead(built / "slots-now", built / "prog.plan", f"{RUNTIME}:{library}")
    its_name = Path(library).resolve().name
    assert {Path(row[0]).name.split(".so")[0] for row in modes} == {its_name.split(".so")[0]}


def test_without_a_plan_the_runtime_is_out_of_the_way(built: Path, tmp_path: Path) -> None:
    program = built / "slots-now"
    run = subprocess.run(
        [str(program), *slots_of(program)],
        env={"LD_PRELOAD": str(RUNTIME)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split()[0] for line in run.stdout.splitlines()} == {LIBC, LIBSTDCXX}


def test_under_its_own_plan_calls_lead_to_the_runtime(built: Path, tmp_path: Path) -> None:
    program = built / "slots-now"
    plan = make_plan(tmp_path, [str(program)], "dense")
    run = run_planned([str(program), *slots_of(program)], plan)
    assert [line.split()[0] for line in run.stdout.splitlines()] == [RUNTIME.name] * len(NAMES)
    assert run.allocations == [64]


REPLACING = r"""
#include <new>
#include <stdio.h>
#include <stdlib.h>
static int made;
void *operator new(size_t n) { ++made; return malloc(n); }
void operator delete(void *p) noexcept { --made; free(p); }
int *make();
void take(int *);
int main() {
  int *p = make();
  printf("%d\n", made);
  take(p);
  printf("%d\n", made);
}
"""
MAKING = r"""
#include <new>
int *make() { return new int; }
void take(int *p) { delete p; }
"""


def test_operators_that_the_program_replaces_stay_replaced(built: Path, tmp_path: Path) -> None:
    library = compile_program(tmp_path, MAKING, "-shared", "-fPIC", name="libmaking.so")
    program = compile_program(tmp_path, REPLACING, *linked(library))
    run = run_planned([str(program)], built / "prog.plan")
    assert (run.status, run.stdout) == (0, "1\n0\n")


OWN_MALLOC = r"""
#include <stdio.h>
#include <string.h>
static char pool[1 << 20], *at = pool;
void *malloc(size_t n) { char *p = at; at += n + 15 & ~15ul; return p; }
void free(void *p) {}
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { return memcpy(malloc(n), p, n); }
int main(void) {
  char *copy = strdup("its own");
  puts(copy >= pool && copy < at ? copy : "another's");
  return 0;
}
"""


def test_a_malloc_that_the_program_brings_is_kept(built: Path, tmp_path: Path) -> None:
    program = compile_program(tmp_path, OWN_MALLOC, "-fno-builtin")
    run = run_planned([str(program)], built / "prog.plan")
    assert (run.status, run.stdout) == (0, "its own\n")


OWN_MALLOC_OF_CXX = r"""
#include <dlfcn.h>
#include <new>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char pool[1 << 22], *at = pool;
static bool is_own(void *p) { return p >= pool && p < at; }
extern "C" {
void *aligned_alloc(size_t to, size_t n) {
  char *p = at + -reinterpret_cast<size_t>(at) % to;
  at = p + n;
  return p;
}
int posix_memalign(void **p, size_t to, size_t n) { *p = aligned_alloc(to, n); return 0; }
void *malloc(size_t n) { return aligned_alloc(16, n + 1); }
void free(void *p) { if (p != nullptr && !is_own(p)) _exit(9); }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { return p ? memcpy(malloc(n), p, n) : malloc(n); }
}
struct alignas(64) Wide { char bytes[64]; };
int *made_early();
int main(int, char **argv) {
  int *const mine = new int, *const tagged = new (std::nothrow) int;
  Wide *const wide = new Wide;
  printf("%d%d%d\n", is_own(mine), is_own(tagged), is_own(wide));
  delete made_early();
  void *const plugin = dlopen(argv[1], RTLD_NOW);
  const auto take = reinterpret_cast<void (*)(int *)>(dlsym(plugin, "take"));
  take(mine);
  take(tagged);
  delete wide;
  int *const theirs = reinterpret_cast<int *(*)()>(dlsym(plugin, "make"))();
  printf("%d\n", is_own(theirs));
  delete theirs;
}
"""
MAKING_EARLY = "#include <new>\nstatic int *made = new int;\nint *made_early() { return made; }\n"
PLUGIN = """
#include <new>
extern "C" int *make() { return new int; }
extern "C" void take(int *p) { delete p; }
"""


BUILD_ID = "-Wl,--build-id=0x0123456789abcdef"


@pytest.mark.parametrize(
    ("identity", "reason"), [((), "another program"), ((BUILD_ID,), "a malloc of its own")]
)
def test_operators_call_the_malloc_that_the_program_brings(
    tmp_path: Path, identity: tuple[str, ...], reason: str
) -> None:
    """In the program, in a library's constructor, and in a library that is loaded later."""
    planned = compile_program(tmp_path, OTHER, BUILD_ID, name="planned")
    plan = make_plan(tmp_path, [str(planned)], "dense")
    found = read_plan(plan)  # without the digest, by which it differs from the program
    modules = tuple(module._replace(layout=0) for module in found.modules)
    write_plan(replace(found, modules=modules), plan)
    flags = ["-shared", "-fPIC"]
    early = compile_program(tmp_path, MAKING_EARLY, *flags, name="libearly.so")
    plugin = compile_program(tmp_path, PLUGIN, *flags, name="plugin.so")
    program = compile_program(
        tmp_path, OWN_MALLOC_OF_CXX, "-fno-builtin", *linked(early), *identity
    )
    run = run_planned([str(program), str(plugin)], plan)
    assert (run.status, run.stdout) == (0, "111\n1\n")
    assert reason in run.stats["reason"]


IN_LIBRARY = r"""
#include <stdlib.h>
void work(void) {
  char *volatile mine[100];
  for (int i = 0; i < 100; ++i) { mine[i] = malloc(24); mine[i][0] = i; }
  for (int i = 0; i < 100; ++i) free(mine[i]);
}
"""
CALLER = r"""
void work(void);
int main(int argc, char **argv) { for (int i = 0; i < TIMES; ++i) work(); return 0; }
"""


def test_a_plan_of_call_sites_in_a_library_is_for_its_program_alone(tmp_path: Path) -> None:
    library = compile_program(tmp_path, IN_LIBRARY, "-shared", "-fPIC", name="libwork.so")
    # Walks never leave the library: its caller alone decides.
    mine = compile_program(tmp_path, CALLER, "-DTIMES=1", *linked(library), name="mine")
    others = compile_program(tmp_path, CALLER, "-DTIMES=2", *linked(library), name="others")
    plan = make_plan(tmp_path, [str(mine)], "dense")
    assert run_planned([str(mine)], plan).allocations == [100]
    assert not run_planned([str(others)], plan).stats["active"]
