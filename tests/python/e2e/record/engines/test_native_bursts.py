"""The bursts of the engine `native`: where they begin and end, and what they stand for."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.record.profile import SAMPLING, Sampling
from support.native import build, record

ARRAYS = """
#include <stdlib.h>
int main(void) {
  volatile long *often = calloc(125, sizeof *often), *seldom = calloc(250, sizeof *seldom);
  for (int turn = 0; turn < 400000; ++turn) {
    for (int i = 0; i < 120; ++i) often[i] += 1;
    for (int i = 0; i < 40; ++i) seldom[i] += 1;
  }
}
"""


def test_accesses_are_in_proportion(tmp_path: Path) -> None:
    profile, _ = record(tmp_path, build(tmp_path, ARRAYS))
    accesses = {it.max_size: it.accesses for it in profile.contexts}
    # Consecutive accesses to one object are one macro-level access.
    assert accesses[1000] == pytest.approx(accesses[2000], rel=0.1)
    assert profile.totals.machine_accesses > 10_000_000
    sampling = SAMPLING.of(profile)
    assert sampling is not None and sampling.bursts > 3


NEVER_ALLOCATES = """
#include <pthread.h>
#include <stdlib.h>
static long *values;
static void *work(void *own) {
  for (volatile int turn = 0; turn < 2000000; ++turn)
    for (int i = 0; i < 100; ++i) values[i] += i;
  return 0;
}
int main(void) {
  pthread_t thread;
  values = calloc(100, sizeof *values);
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
}
"""


def test_threads_that_never_allocate_have_bursts(tmp_path: Path) -> None:
    profile, _ = record(tmp_path, build(tmp_path, NEVER_ALLOCATES, "-O1"))
    assert profile.totals.machine_accesses > 1_000_000


CALLS_OFTEN = """
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  int ends[2], answer = 0;
  long *values = calloc(100, sizeof *values);
  pipe(ends);
  for (int turn = 0; turn < 200; ++turn) {
    for (int i = 0; i < 100; ++i) values[i] += i;
    write(ends[1], &turn, sizeof turn);
    read(ends[0], &answer, sizeof answer);
    if (answer != turn) return 1;
  }
}
"""


def test_bursts_go_on_behind_system_calls(tmp_path: Path) -> None:
    profile, _ = record(tmp_path, build(tmp_path, CALLS_OFTEN))
    # The first burst has all; one that ended at the first call would have those of one turn.
    assert SAMPLING.of(profile) == Sampling(bursts=1, edge_error=0.0)
    assert profile.totals.machine_accesses >= 200 * 100


ENDING = """
#include <stdlib.h>
#include <sys/stat.h>
static void turns(volatile long *one, volatile long *other, int ends) {
  for (int turn = 0; turn < 300000; ++turn) {
    for (int i = 0; i < 400; ++i) one[i] += other[i];
    if (ends) umask(022);
  }
}
int main(void) {
  volatile long *other = calloc(400, sizeof(long));
  turns(calloc(410, sizeof(long)), other, 1);
  turns(calloc(420, sizeof(long)), other, 0);
}
"""


def test_bursts_that_end_early_leave_their_time_to_the_next_one(tmp_path: Path) -> None:
    """At a call of `umask`."""
    profile, _ = record(tmp_path, build(tmp_path, ENDING))
    accesses = {it.max_size: it.accesses for it in profile.contexts}
    assert 0.5 < accesses[3280] / accesses[3360] < 2


SHORT_THREADS = """
#include <pthread.h>
#include <stdlib.h>
void *work(void *unused) {
  volatile long *values = calloc(100, sizeof *values);
  for (int turn = 0; turn < 200; ++turn)
    for (int i = 0; i < 100; ++i) values[i] += i;
  free((void *)values);
  return unused;
}
int main(void) {
  pthread_t threads[10];
  for (int i = 0; i < 10; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 10; ++i) pthread_join(threads[i], 0);
}
"""


def test_short_threads_are_recorded_whole(tmp_path: Path) -> None:
    profile, _ = record(tmp_path, build(tmp_path, SHORT_THREADS, "-O1"))
    # Each is over before the timer of its processor time.
    assert profile.totals.machine_accesses >= 10 * 200 * 100
    sampling = SAMPLING.of(profile)
    assert sampling is not None and sampling.edge_error == 0


SHORT = """
#include <stdlib.h>
int main(void) {
  volatile long *values = calloc(100, sizeof *values);
  for (int i = 0; i < 100; ++i) values[i] += i;
}
"""


def test_the_shortest_run_has_a_burst(tmp_path: Path) -> None:
    profile, _ = record(tmp_path, build(tmp_path, SHORT))
    assert profile.totals.machine_accesses >= 200
