"""Libraries that put themselves between the program and malloc, as profilers do."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import halo
from support.planned import RUNTIME, Run, compile_program, make_plan, run_planned

# Writes wrappers of malloc and free to the slots of `prog`, at the start or when `inject` is
# called. One block in 16 has a header of its own.
INJECTOR = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static unsigned count;
static const char mark[17] = "MARKMARKMARKMARK";
static void *own_malloc(size_t n) {
  if ((++count & 15) != 0) return next_malloc(n);
  char *p = next_malloc(n + 16);
  memcpy(p, mark, 16);
  return p + 16;
}
static void own_free(void *p) {
  char *header = (char *)p - 16;
  if (p && ((uintptr_t)p & 4095) >= 16 && memcmp(header, mark, 16) == 0) {
    memset(header, 0, 16);
    next_free(header);
  } else {
    next_free(p);
  }
}
static void patch(uintptr_t bias, const Elf64_Rela *at, size_t bytes, const Elf64_Sym *symbols,
                  const char *strings) {
  for (const Elf64_Rela *end = at + bytes / sizeof *at; at < end; ++at) {
    const char *name = strings + symbols[ELF64_R_SYM(at->r_info)].st_name;
    void *own = !strcmp(name, "malloc") ? (void *)own_malloc
                : !strcmp(name, "free") ? (void *)own_free : NULL;
    void **slot = (void **)(bias + at->r_offset);
    if (own == NULL) continue;
    mprotect((void *)((uintptr_t)slot & -4096), 4096, PROT_READ | PROT_WRITE);
    *slot = own;
  }
}
static int visit(struct dl_phdr_info *info, size_t size, void *data) {
  const Elf64_Dyn *entry = NULL;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = (const Elf64_Dyn *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  uintptr_t found[DT_NUM] = {0};
  for (; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag < DT_NUM) found[entry->d_tag] = entry->d_un.d_val;
  const Elf64_Sym *symbols = (const Elf64_Sym *)found[DT_SYMTAB];
  const char *strings = (const char *)found[DT_STRTAB];
  const Elf64_Rela *calls = (const Elf64_Rela *)found[DT_JMPREL];
  const Elf64_Rela *others = (const Elf64_Rela *)found[DT_RELA];
  patch(info->dlpi_addr, calls, found[DT_PLTRELSZ], symbols, strings);
  patch(info->dlpi_addr, others, found[DT_RELASZ], symbols, strings);
  return 1;  // of the program alone
}
void inject(void) {
  if (strcmp(program_invocation_short_name, "prog") != 0) return;
  next_malloc = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
  next_free = (void (*)(void *))dlsym(RTLD_DEFAULT, "free");
  dl_iterate_phdr(visit, NULL);
}
#ifdef AT_START
__attribute__((constructor)) static void start(void) { inject(); }
#endif
"""
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((weak)) void inject(void);
int main(int argc, char **argv) {
  char *p[300];
  long sum = 0;
  for (int k = 0; k < 100; ++k) {
    if (k == 50 && argc > 1) inject();
    for (int i = 0; i < 300; ++i) { p[i] = malloc(24); memset(p[i], k, 24); }
    for (int r = 0; r < 5; ++r) for (int i = 0; i < 300; ++i) sum += *(volatile char *)(p[i] + 8);
    for (int i = 0; i < 300; ++i) free(p[i]);
  }
  printf("%ld\n", sum);
}
"""
ANSWER = "7425000\n"
LINKS = {"lazily": ("-Wl,-z,lazy",), "at once": ("-Wl,-z,now",), "without PLT": ("-fno-plt",)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("taken")


@pytest.fixture(scope="module")
def injector(folder: Path) -> Path:
    return compile_program(folder, INJECTOR, "-shared", "-fPIC", "-DAT_START", name="injector.so")


@pytest.fixture(scope="module", params=LINKS)
def program(folder: Path, request: pytest.FixtureRequest) -> Path:
    own = folder / request.param.replace(" ", "-")
    own.mkdir()
    return compile_program(own, PROGRAM, *LINKS[request.param])


def with_library(library: Path) -> dict[str, str]:
    return {"LD_PRELOAD": f"{RUNTIME}:{library}"}


def run_with(program: Path, plan: Path, library: Path, *arguments: str) -> Run:
    run = run_planned([str(program), *arguments], plan, env=with_library(library))
    assert (run.status, run.stdout) == (0, ANSWER)
    return run


def test_a_plan_whose_callers_are_hidden_says_so(program: Path, injector: Path) -> None:
    plan = make_plan(program.parent, [str(program)], "dense")
    untaken = run_planned([str(program)], plan)
    assert untaken.stats["active"] and untaken.stats["calls_taken_by"] == ""
    assert sum(untaken.allocations) >= 30_000
    run = run_with(program, plan, injector)
    assert sum(run.allocations) <= 1  # that of standard output, by the C library
    assert run.stats["calls_taken_by"] == str(injector)
    told = run_planned([str(program)], plan, env={**with_library(injector), "HALO_STATS": "1"})
    assert f"calls of malloc lead to {injector}" in told.stderr


def test_a_plan_for_all_callers_works_under_an_injector(program: Path, injector: Path) -> None:
    plan = make_plan(program.parent, [str(program)], "everything")
    run = run_with(program, plan, injector)
    assert run.stats["active"] and sum(run.allocations) >= 30_000


def test_slots_taken_later_are_said_beside_what_was_placed(program: Path, folder: Path) -> None:
    later = compile_program(folder, INJECTOR, "-shared", "-fPIC", name="later.so")
    plan = make_plan(program.parent, [str(program)], "dense")
    run = run_with(program, plan, later, "later")
    assert run.stats["active"] and 15_000 <= sum(run.allocations) < 15_100
    assert run.stats["calls_taken_by"] == str(later)


def test_a_program_is_recorded_with_its_injector(program: Path, injector: Path) -> None:
    """Its wrapper is then part of the contexts, and the plan fits."""
    profile, plan = program.with_suffix(".profile"), program.with_suffix(".plan")
    env = {"LD_PRELOAD": str(injector)}
    command = ("record", "--exact", "-o", str(profile), "--", str(program))
    assert halo(*command, env=env).stdout == ANSWER
    made = halo("plan", str(profile), "--strategy", "dense", "-o", str(plan))
    assert made.status == 0
    assert sum(run_with(program, plan, injector).allocations) >= 30_000


# While the runtime writes its statistics, a thread is always in dlopen, whose constructor needs the
# lock of the linker's list: the linker takes its two locks in one order.
OPENS_AT_EXIT = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
sem_t constructing;
static const char *library;
static void *open_it(void *unused) {
  for (;;) dlclose(dlopen(library, RTLD_NOW));
}
__attribute__((destructor)) static void at_exit(void) {
  pthread_t thread;
  alarm(20);
  pthread_create(&thread, NULL, open_it, NULL);
  sem_wait(&constructing);
}
int main(int argc, char **argv) {
  char *p[300];
  for (int i = 0; i < 300; ++i) memset(p[i] = malloc(24), i, 24);
  for (int i = 0; i < 300; ++i) free(p[i]);
  sem_init(&constructing, 0, 0);
  library = argv[1];
}
"""
IS_OPENED = r"""
#define _GNU_SOURCE
#include <link.h>
#include <semaphore.h>
#include <unistd.h>
extern sem_t constructing;
static int visit(struct dl_phdr_info *info, size_t size, void *data) { return 0; }
__attribute__((constructor)) static void construct(void) {
  sem_post(&constructing);
  usleep(20000);
  dl_iterate_phdr(visit, NULL);
}
"""
# Lets the thread take its lock between any two look-ups of the runtime.
SLOW_LOOK_UPS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
int dladdr(const void *address, Dl_info *info) {
  static int (*next)(const void *, Dl_info *);
  if (next == NULL) next = (int (*)(const void *, Dl_info *))dlsym(RTLD_NEXT, "dladdr");
  usleep(3000);
  return next(address, info);
}
"""


def test_no_thread_in_dlopen_waits_for_the_statistics(tmp_path: Path) -> None:
    library = compile_program(tmp_path, IS_OPENED, "-shared", "-fPIC", name="opened.so")
    program = compile_program(tmp_path, OPENS_AT_EXIT, "-rdynamic", "-pthread", "-Wl,-z,now")
    plan = make_plan(tmp_path, [str(program), str(library)], "dense")
    slow = compile_program(tmp_path, SLOW_LOOK_UPS, "-shared", "-fPIC", name="slow.so")
    run = run_planned([str(program), str(library)], plan, env=with_library(slow))
    assert (run.status, run.stderr) == (0, "")
    assert run.stats["active"] and run.stats["calls_taken_by"] == ""


def test_doctor_names_the_library_that_takes_the_calls(program: Path, injector: Path) -> None:
    plan = make_plan(program.parent, [str(program)], "dense")
    env = {"LD_PRELOAD": str(injector)}
    told = halo("doctor", "--run", "--plan", str(plan), "--", str(program), env=env)
    assert "calls of malloc lead to injector.so" in told.stdout
