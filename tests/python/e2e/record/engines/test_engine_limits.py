"""Limits of the engine `valgrind` that programs reach: lifted where possible, named otherwise."""

from __future__ import annotations

import re
import resource
import signal
from pathlib import Path

import pytest

from halo.base.settings import read_settings
from halo.binary.process.foreground import Ending
from halo.binary.process.target import find_target
from halo.measure.runs.job import Job
from halo.measure.runs.launcher import Launcher
from halo.measure.runs.simulated_runs import run_recorder
from halo.record import valgrind
from halo.record.parts import Limits, workspace
from halo.record.producer import EngineFailed
from halo.record.profile import read_profile
from halo.record.valgrind import ValgrindProducer, stack_options
from halo.record.valgrind_failures import fatal_cause, possible_cause
from support.command import compile_c, halo
from support.recordings import tells_only_its_file

THREADS = """
#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t all;
static void *work(void *unused) {
  volatile char *block = malloc(24);
  *block = 1;
  pthread_barrier_wait(&all);
  free((void *)block);
  return unused;
}
int main(int count, char **words) {
  int threads = atoi(words[count - 1]);
  pthread_t *made = malloc(threads * sizeof *made);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  pthread_barrier_init(&all, 0, threads);
  for (int i = 0; i < threads; i++)
    if (pthread_create(&made[i], &small, work, 0)) return 2;
  for (int i = 0; i < threads; i++) pthread_join(made[i], 0);
  return 0;
}
"""

# Each return value is the place of a failure.
RESERVES = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define TIB (1ul << 40)
#define MIB (1ul << 20)
static char *map(char *at, size_t bytes, int access, int flags) {
  flags |= MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  char *made = mmap(at, bytes, access, flags, -1, 0);
  return made == MAP_FAILED ? NULL : made;
}
int main(void) {
  char *range = map(NULL, TIB, PROT_NONE, 0);
  if (range == NULL) return 1;
  char *part = range + TIB / 2;
  if (mprotect(part, MIB, PROT_READ | PROT_WRITE) != 0) return 2;
  memset(part, 1, MIB);
  if (map(range + TIB - MIB, MIB, PROT_READ | PROT_WRITE, MAP_FIXED) == NULL) return 3;
  range[TIB - 1] = 7;
  char *open = map(NULL, 100ul << 30, PROT_READ | PROT_WRITE, 0);
  if (open == NULL) return 4;
  open[50ul << 30] = 1;
  for (int i = 0; i < 60; i++) { /* each takes the place of the one before */
    char *other = map(NULL, TIB, PROT_READ, 0);
    if (other == NULL) return 5;
    if (other[TIB - 1] != 0 || munmap(other, TIB) != 0) return 6;
  }
  if (madvise(part, MIB, MADV_DONTNEED) != 0 || part[5] != 0) return 7;
  if (munmap(range, TIB / 4) != 0) return 8;
  char *moved = mremap(part, MIB, 4 * MIB, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return 9;
  moved[4 * MIB - 1] = 1;
  if (map(NULL, 1ul << 50, PROT_NONE, 0) != NULL) return 10;
  for (int i = 0; i < 100; i++) *(volatile char *)malloc(48) = 1;
  return 0;
}
"""

# Places that heaps of virtual machines and databases wish for, and that the kernel gives while they
# are free. Each return value is the place of a failure.
WISHES = """
#include <stdlib.h>
#include <sys/mman.h>
static char *map(unsigned long at, size_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  return mmap((void *)at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}
int main(void) {
  const unsigned long wishes[] = {0x200000000, 0x700000000, 0xc000000000, 0x50000000000,
                                  0x180000000000};
  for (int i = 0; i < 5; i++) {
    const size_t large = 2ul << 30, small = 1ul << 20;
    char *wished = map(wishes[i], large);
    if (wished != (char *)wishes[i]) return 10 + i;
    wished[large - 1] = 1;
    char *other = map(wishes[i] + large / 2, large);
    if (other == MAP_FAILED || other < wished + large && other + large > wished) return 20 + i;
    other[0] = 1;
    if (map(wishes[i] + large, small) != wished + large && other != wished + large) return 30 + i;
    if (munmap(wished, large) != 0 || map(wishes[i], large) != wished) return 40 + i;
  }
  for (int i = 0; i < 100; i++) *(volatile char *)malloc(48) = 1;
  return 0;
}
"""

# Together, they are larger than all that the core manages.
FILLS = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
static void *work(void *unused) {
  for (int i = 0; i < 50; i++) *(volatile char *)malloc(48) = 1;
  return unused;
}
int main(void) {
  for (int i = 0; i < 60; i++)
    if (mmap(0, 3ul << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) ==
        MAP_FAILED)
      return 1;
  for (int i = 0; i < 20; i++) {
    pthread_t made;
    if (pthread_create(&made, 0, work, 0) != 0) return 2;
    pthread_join(made, 0);
  }
  return 0;
}
"""

MAPPINGS = """
#include <stdlib.h>
#include <sys/mman.h>
int main(void) {
  const size_t page = 4096, count = 32000;
  char *range = mmap(0, count * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  free(malloc(24));
  for (size_t at = 0; at < count; at += 2)
    if (mprotect(range + at * page, page, PROT_NONE) != 0) return 2;
  return 0;
}
"""

ROUNDS_UP = """
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  volatile double one = 1, tiny = 1e-30;
  free(malloc(24));
  fesetround(FE_UPWARD);
  if (one + tiny == one) abort();
  fesetround(FE_TONEAREST);
  puts(one + tiny == one ? "near" : "far");
  return 0;
}
"""

DEEP = """
#include <stdlib.h>
static int sink(int depth) {
  volatile char frame[1024];
  frame[0] = (char)depth;
  return depth == 0 ? 0 : frame[0] * 0 + sink(depth - 1) + 0 * frame[0];
}
int main(void) {
  free(malloc(24));
  return sink(40000); /* 40 MB */
}
"""


def test_a_thousand_threads_are_recorded(tmp_path: Path) -> None:
    binary = compile_c(THREADS, tmp_path / "threads", "-pthread")
    outcome = halo("record", "--engine", "valgrind", "--", str(binary), "1000", cwd=tmp_path)
    assert outcome.status == 0 and tells_only_its_file(outcome.stderr, "threads.profile")
    profile = read_profile(tmp_path / "threads.profile")
    assert any(it.allocations == 1000 and it.min_size == 24 for it in profile.contexts)


def fails(binary: Path, *arguments: str) -> str:
    """The sentence of a recording that the engine cannot do."""
    settings = read_settings()
    job = Job(find_target(str(binary), settings.environment), arguments)
    with workspace() as scratch, Launcher() as launcher, pytest.raises(EngineFailed) as found:
        run_recorder(
            *(settings, launcher, job, settings.environment, Limits(), scratch / "record"),
            producer=ValgrindProducer(),
        )
    return str(found.value)


def test_too_many_threads_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valgrind, "MAX_THREADS", 20)
    binary = compile_c(THREADS, tmp_path / "threads", "-pthread")
    assert "threads at once" in fails(binary, "30")


def test_too_many_mappings_are_said(tmp_path: Path) -> None:
    assert "memory mappings at once" in fails(compile_c(MAPPINGS, tmp_path / "maps"))


def test_static_data_without_a_place_is_said(tmp_path: Path) -> None:
    source = "static volatile char all[1600u << 20]; int main(void) { return all[5]; }"
    assert "1.3 GB of code and static data" in fails(compile_c(source, tmp_path / "static"))


def test_what_the_core_does_not_implement_is_said(tmp_path: Path) -> None:
    source = """
        #define _GNU_SOURCE
        #include <sched.h>
        #include <signal.h>
        #include <sys/wait.h>
        static char stack[65536];
        static int child(void *unused) { return unused != 0; }
        int main(void) {
          int made = clone(child, stack + 65536, CLONE_VM | CLONE_FILES | SIGCHLD, 0);
          return made < 0 || waitpid(made, 0, 0) != made;
        }
    """
    assert "does not support general clone())" in fails(compile_c(source, tmp_path / "clones"))


@pytest.mark.parametrize("before", [(), ("bash", "-c", 'ulimit -s unlimited; exec "$@"', "-")])
def test_large_reservations_succeed(tmp_path: Path, before: tuple[str, ...]) -> None:
    """With an unlimited stack, the kernel places mappings elsewhere."""
    binary = compile_c(RESERVES, tmp_path / "reserves")
    command = ("record", "--engine", "valgrind", "--", str(binary))
    outcome = halo(*command, cwd=tmp_path, before=before)
    assert outcome.status == 0 and tells_only_its_file(outcome.stderr, "reserves.profile")
    assert read_profile(tmp_path / "reserves.profile").totals.allocations >= 100


def test_mappings_are_where_the_program_wishes_them(tmp_path: Path) -> None:
    binary = compile_c(WISHES, tmp_path / "wishes")
    outcome = halo("record", "--engine", "valgrind", "--", str(binary), cwd=tmp_path)
    assert outcome.status == 0 and tells_only_its_file(outcome.stderr, "wishes.profile")
    assert read_profile(tmp_path / "wishes.profile").totals.allocations >= 100


def test_reservations_leave_the_engine_its_own_memory(tmp_path: Path) -> None:
    binary = compile_c(FILLS, tmp_path / "fills", "-pthread")
    outcome = halo("record", "--engine", "valgrind", "--", str(binary), cwd=tmp_path)
    assert outcome.status == 0 and tells_only_its_file(outcome.stderr, "fills.profile")
    assert read_profile(tmp_path / "fills.profile").totals.allocations >= 1000


def test_a_rounding_mode_that_the_engine_lacks_is_said(tmp_path: Path) -> None:
    binary = compile_c(ROUNDS_UP, tmp_path / "rounds", "-O0", "-lm")
    outcome = halo("record", "--engine", "valgrind", "--", str(binary), cwd=tmp_path)
    assert outcome.status == -signal.SIGABRT
    assert "rounds ended by signal 6; it sets another rounding mode" in outcome.stderr


def test_a_stack_is_as_large_as_natively(tmp_path: Path) -> None:
    binary = compile_c(DEEP, tmp_path / "deep", "-O0", "-w")
    command = ("record", "--engine", "valgrind", "--", str(binary))
    larger = ("bash", "-c", f'ulimit -s {64 << 10}; exec "$@"', "-")
    assert halo(*command, cwd=tmp_path, before=larger).status == 0
    outcome = halo(*command, cwd=tmp_path)
    assert outcome.status == -signal.SIGSEGV and "outgrown its main stack" in outcome.stderr


def test_options_for_the_stack() -> None:
    assert stack_options(8 << 20) == []
    assert stack_options(64 << 20) == [f"--main-stacksize={64 << 20}"]
    assert stack_options(resource.RLIM_INFINITY) == [f"--main-stacksize={1 << 30}"]


FAILED, DEAD, GOOD = Ending(1, 0), Ending(0, signal.SIGSEGV), Ending(0, 0)


def test_causes_hold_only_if_the_program_failed() -> None:
    log = "valgrind: the 'impossible' happened:\n   Max number of threads is too low\n"
    assert fatal_cause(log, GOOD) is None
    cause = fatal_cause(log, FAILED)
    assert cause is not None and "9,999 threads" in cause.meaning
    assert fatal_cause("unhandled instruction bytes: 0x62", DEAD) is None, "it is not SIGILL"


def test_a_missing_system_call_is_named() -> None:
    log = "--7-- WARNING: unhandled amd64-linux syscall: 462\n"
    assert re.search("system call 462", possible_cause(log, FAILED))
    assert possible_cause("", FAILED) == ""
