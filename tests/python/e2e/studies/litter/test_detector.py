"""libhalo-detector.so: it counts exactly what a program allocates, however the program ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import compile_c
from support.littering import DETECTOR, counts_of, detect, expected_file, run
from support.planned import compile_program

# No stdio: its buffers would be counted too.
EXACT = r"""
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
volatile size_t huge = SIZE_MAX / 2;
int main(void) {
  void *volatile a = malloc(10);
  void *volatile b = calloc(5, 8);
  void *volatile c = realloc(NULL, 7);
  c = realloc(c, 70);
  void *volatile d = aligned_alloc(64, 128);
  void *e;
  if (posix_memalign(&e, 4096, 300)) return 1;
  void *volatile f = memalign(32, 96);
  void *volatile g = reallocarray(NULL, 3, 11);
  void *volatile h = malloc(5000);
  void *volatile i = malloc(0);
  /* Refused: counted nowhere, and what was alive still is. */
  if (malloc(huge) || calloc(huge, 3) || realloc(a, huge) || reallocarray(a, huge, 3)) return 2;
  if (posix_memalign((void **)&huge, 3, 8) == 0) return 3;
  free(NULL);
  if (realloc(b, 0)) return 4; /* gone: the next one lives in its place */
  b = malloc(4096);
  free(a); free(b); free(c); free(d); free(e); free(f); free(g); free(h); free(i);
  a = malloc(4097);
  return 42;
}
"""
EXACT_SIZES = [10, 40, 7, 70, 128, 300, 96, 33, 5000, 0, 4096, 4097]


def test_all_c_functions_are_counted_exactly(tmp_path: Path) -> None:
    program = compile_c(EXACT, tmp_path / "prog", "-fno-builtin")
    outcome, found = detect([str(program)], tmp_path / "out")
    assert (outcome.status, outcome.stdout, outcome.stderr) == (42, "", "")
    assert found.pop("program") == str(program)
    assert found.pop("groups") == []
    expected = expected_file(EXACT_SIZES, max_live=9)
    assert found.pop("mean") == pytest.approx(expected.pop("mean"), abs=1e-6)
    assert found == expected


def test_a_program_that_allocates_nothing_leaves_zeros(tmp_path: Path) -> None:
    program = compile_c("int main(void) { return 0; }", tmp_path / "prog")
    outcome, found = detect([str(program)], tmp_path / "out")
    assert outcome.stderr == ""
    assert {**found, **expected_file([], 0)} == found


OPERATORS = r"""
#include <new>
#include <cstdlib>
struct alignas(128) Wide { char room[128]; };
int main() {
  char *volatile a = new char;
  char *volatile b = new char[1001];
  char *volatile c = new (std::nothrow) char[1002];
  Wide *volatile d = new Wide[3];
  try { delete[] new char[std::size_t(1) << 60]; } catch (const std::bad_alloc &) { delete a; }
  delete[] b; delete[] c; delete[] d;
}
"""


def test_operators_are_counted(tmp_path: Path) -> None:
    program = compile_program(tmp_path, OPERATORS, "-fno-builtin")
    outcome, found = detect([str(program)], tmp_path / "out")
    assert outcome.status == 0, outcome.stderr
    counts = counts_of(found)
    assert [counts[size] for size in (1, 1001, 1002, 384)] == [1, 1, 1, 1]


FAMILY = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_barrier_t all;
static void *work(void *unused) {
  void *mine[1000];
  for (int i = 0; i < 1000; ++i) mine[i] = malloc(1111);
  pthread_barrier_wait(&all);
  for (int i = 0; i < 1000; ++i) free(mine[i]);
  return NULL;
}
int main(void) {
  pthread_t worker_pool[4];
  pthread_barrier_init(&all, NULL, 4);
  for (int i = 0; i < 4; ++i) pthread_create(&worker_pool[i], NULL, work, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(worker_pool[i], NULL);
  void *volatile kept = malloc(2222);
  if (fork() == 0) {
    for (int i = 0; i < 5000; ++i) kept = malloc(3333);
    exit(0);
  }
  wait(NULL);
  if (fork() == 0) { kept = malloc(1234); _exit(0); }
  wait(NULL);
  for (int i = 0; i < 3; ++i) kept = malloc(2222);
  return 0;
}
"""


def test_threads_and_forked_children_are_counted_together(tmp_path: Path) -> None:
    program = compile_c(FAMILY, tmp_path / "prog", "-pthread", "-fno-builtin")
    outcome, found = detect([str(program)], tmp_path / "out")
    assert outcome.status == 0
    counts = counts_of(found)
    assert [counts[size] for size in (1111, 2222, 3333, 1234)] == [4000, 4, 5000, 1]
    assert found["allocations"] == counts.total()
    # The first child's, with what it inherited; at most 100 are libc's, for threads.
    assert 5001 <= found["max_live_allocations"] <= 5101
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == ["out"]


ENDS = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void handled(int signal) { write(1, "handled\n", 8); _exit(3); }
int main(int argc, char **argv) {
  void *volatile kept = malloc(1234);
  const char *how = argv[1];
  if (!strcmp(how, "exit")) exit(3);
  if (!strcmp(how, "_exit")) _exit(3);
  if (!strcmp(how, "_Exit")) _Exit(3);
  if (!strcmp(how, "quick_exit")) quick_exit(3);
  if (!strcmp(how, "handled")) { signal(SIGTERM, handled); raise(SIGTERM); }
  raise(atoi(how));
  return 9;
}
"""


@pytest.mark.parametrize(
    ("how", "status", "output"),
    [
        ("exit", 3, ""),
        ("_exit", 3, ""),
        ("_Exit", 3, ""),
        ("quick_exit", 3, ""),
        ("handled", 3, "handled\n"),
        ("1", -1, ""),
        ("2", -2, ""),
        ("13", -13, ""),
        ("15", -15, ""),
    ],
)
def test_however_it_ends_the_file_is_left(
    tmp_path: Path, how: str, status: int, output: str
) -> None:
    program = compile_c(ENDS, tmp_path / "prog", "-fno-builtin")
    outcome, found = detect([str(program), how], tmp_path / "out")
    assert (outcome.status, outcome.stdout, outcome.stderr) == (status, output, "")
    assert counts_of(found) == {1234: 1}


def test_ignored_signals_stay_ignored(tmp_path: Path) -> None:
    program = compile_c(ENDS, tmp_path / "prog", "-fno-builtin")
    shell = ["/bin/sh", "-c", f"trap '' TERM; exec {program} 15"]
    outcome, found = detect(shell, tmp_path / "out")
    assert (outcome.status, counts_of(found)) == (9, {1234: 1})


ASKS = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
static void handler(int signal) {}
int main(int argc, char **argv) {
  void *volatile kept = malloc(1234);
  struct sigaction it;
  if (sigaction(SIGTERM, NULL, &it) || it.sa_handler != SIG_DFL || it.sa_flags) return 1;
  if (signal(SIGTERM, handler) != SIG_DFL || signal(SIGTERM, SIG_IGN) != handler) return 2;
  raise(SIGTERM);
  if (!strcmp(argv[1], "signal") && signal(SIGTERM, SIG_DFL) != SIG_IGN) return 3;
  it.sa_handler = SIG_DFL;
  if (!strcmp(argv[1], "sigaction") && sigaction(SIGTERM, &it, &it)) return 4;
  if (sigaction(99, NULL, &it) != -1 || signal(SIGKILL, SIG_DFL) != SIG_ERR) return 5;
  raise(SIGTERM);
  return 6;
}
"""


@pytest.mark.parametrize("how", ["signal", "sigaction"])
def test_programs_see_the_default_action_and_can_give_it_back(tmp_path: Path, how: str) -> None:
    program = compile_c(ASKS, tmp_path / "prog", "-fno-builtin")
    outcome, found = detect([str(program), how], tmp_path / "out")
    assert outcome == run([str(program), how])
    assert (outcome.status, counts_of(found)) == (-15, {1234: 1})


@pytest.mark.parametrize("caught", [True, False])
def test_python_is_interrupted_as_ever(tmp_path: Path, caught: bool) -> None:
    """It takes the signal over only where the default action is in place."""
    code = "import os, signal\ntry: os.kill(os.getpid(), signal.SIGINT)\n"
    code += f"except {'KeyboardInterrupt' if caught else 'OSError'}: print('caught')"
    command = ["/usr/bin/python3", "-c", code]
    outcome, found = detect(command, tmp_path / "out")
    assert outcome == run(command)
    assert outcome.status == (0 if caught else -2)
    assert found["allocations"] > 1000


AT_WORK = r"""
#include <pthread.h>
#include <stdlib.h>
static void *work(void *unused) {
  for (;;) free(malloc(100));
}
int main(void) {
  pthread_t thread;
  for (int i = 0; i < 3; ++i) pthread_create(&thread, NULL, work, NULL);
  for (int i = 0; i < 100000; ++i) free(malloc(10));
  return 0;
}
"""


def test_threads_may_allocate_while_the_program_ends(tmp_path: Path) -> None:
    program = compile_c(AT_WORK, tmp_path / "prog", "-pthread", "-fno-builtin")
    for _ in range(50):
        outcome, found = detect([str(program)], tmp_path / "out")
        assert (outcome.status, outcome.stderr) == (0, "")
        assert counts_of(found)[10] == 100000


LATE = r"""
#include <stdlib.h>
#include <unistd.h>
__attribute__((destructor)) static void last(void) { void *volatile p = malloc(777); _exit(5); }
"""


def test_what_runs_after_the_detectors_destructor_is_counted(tmp_path: Path) -> None:
    library = compile_c(LATE, tmp_path / "late.so", "-shared", "-fPIC", "-fno-builtin")
    program = compile_c("int main(void) { return 0; }", tmp_path / "prog")
    outcome, found = detect([str(program)], tmp_path / "out", [library])
    assert (outcome.status, outcome.stderr) == (5, "")
    assert counts_of(found) == {777: 1}


WANDERS = r"""
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  void *volatile kept = malloc(99);
  clearenv();
  setenv("HALO_DETECTOR_FILENAME", argv[1], 1);
  return chdir("/");
}
"""


@pytest.mark.parametrize("name", ["some.json", None])
def test_a_relative_path_is_that_of_the_start(tmp_path: Path, name: str | None) -> None:
    program = compile_c("#define _GNU_SOURCE\n" + WANDERS, tmp_path / "prog", "-fno-builtin")
    env = {"HALO_DETECTOR_FILENAME": name} if name else {}
    other = tmp_path / "not this one"
    assert run([str(program), str(other)], [DETECTOR], env, tmp_path).status == 0
    assert json.loads((tmp_path / (name or "detector.out")).read_text())["allocations"] >= 1
    assert not other.exists()


SHELL = r"""
#include <stdlib.h>
int main(void) { void *volatile kept = malloc(1234); return system("ls / >/dev/null"); }
"""


def test_only_the_named_program_leaves_a_file(tmp_path: Path) -> None:
    program = compile_c(SHELL, tmp_path / "prog", "-fno-builtin")
    out = tmp_path / "out"
    env = {"HALO_DETECTOR_FILENAME": str(out), "HALO_DETECTOR_PROGRAM": "/bin/other"}
    outcome = run([str(program)], [DETECTOR], env)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert not out.exists()
    outcome, found = detect([str(program)], out, env={"HALO_DETECTOR_PROGRAM": str(program)})
    assert (outcome.status, outcome.stderr) == (0, "")
    assert found["program"] == str(program)
    assert counts_of(found)[1234] == 1


def test_a_file_that_cannot_be_written_costs_one_sentence(tmp_path: Path) -> None:
    program = compile_c(EXACT, tmp_path / "prog", "-fno-builtin")
    for place in (tmp_path / "none" / "out", tmp_path):
        outcome = run([str(program)], [DETECTOR], {"HALO_DETECTOR_FILENAME": str(place)})
        assert outcome.status == 42
        assert outcome.stderr == f"halo: the detector could not write {place}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prog"]
