"""Many threads, short threads, and objects that another thread frees.

Rows are those of the checklist of what breaks preloaded allocators.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.planned import Run, compile_program, make_plan, run_planned
from support.programs.life import library, program, run_life

MIB = 1 << 20


def pages(stats: dict[str, list[dict[str, int]]]) -> int:
    return sum(group["pages"] for group in stats["groups"])


@pytest.mark.parametrize("ending", ["plain", "local", "key", "key again", "local key again"])
def test_short_threads_leave_nothing_behind(ending: str) -> None:
    """Row 10: also where destructors of thread-local objects and of keys allocate, and go on to
    after our own has run for the last time."""
    run = run_life(program("thread_ends"), ending)
    assert run.status == 0, run.stderr
    assert int(run.stdout.split()[0]) >= 2000 * 100
    assert run.allocations[1] == 2000 * 100
    assert pages(run.stats) <= 8 and run.stats["resident_bytes"] < 4 * MIB


@pytest.mark.parametrize("owner", ["idle", "ended"])
def test_what_others_free_is_used_again(owner: str) -> None:
    """Threads: all frees are remote, and the owner waits or is gone."""
    run = run_life(program("handover"), owner)
    assert (run.status, run.stdout) == (0, "1200000 grouped\n")
    assert run.allocations[:2] == [600000, 600000]
    # 10,000 objects of 32 bytes a group are alive at a time.
    assert pages(run.stats) <= 4 and run.stats["resident_bytes"] < 2 * MIB


def test_sixty_four_threads_neither_deadlock_nor_balloon() -> None:
    """Threads: on however few processors; half of the frees are remote."""
    run = run_life(program("crowd"))
    assert (run.status, run.stdout) == (0, "fine\n")
    assert sum(run.allocations) == 64 * 20000
    assert run.stats["resident_bytes"] < 32 * MIB


MANY_GROUPS = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { bytes = 64, most = 10000 };
static pthread_barrier_t all_have;
static int objects;
static void *work(void *unused) {
  static __thread char *made[most];
  for (int i = 0; i < objects; ++i) memset(made[i] = malloc(bytes), i, bytes);
  pthread_barrier_wait(&all_have);
  for (int i = 0; i < objects; ++i) {
    if (made[i][bytes - 1] != (char)i) abort();
    free(made[i]);
  }
  return NULL;
}
int main(int argc, char **argv) {
  int threads = atoi(argv[1]);
  pthread_t ids[threads];
  objects = atoi(argv[2]);
  pthread_barrier_init(&all_have, NULL, threads);
  for (int i = 0; i < threads; ++i) if (pthread_create(&ids[i], NULL, work, NULL) != 0) abort();
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  puts("fine");
}
"""


def run_in_pools(folder: Path, pools: int, threads: int, objects: int) -> Run:
    """Each thread's objects of 64 bytes in groups drawn at random, all alive at once."""
    command = [str(compile_program(folder, MANY_GROUPS, "-pthread"))]
    options = ("--option", f"pools={pools}")
    plan = make_plan(folder, [*command, "1", "10"], "random-pools", *options)
    return run_planned([*command, str(threads), str(objects)], plan)


def test_small_groups_of_many_threads_share_pages(tmp_path: Path) -> None:
    """Threads times groups: neither pages nor caches for each of 300 groups in 100 threads."""
    threads, objects = 100, 1000
    run = run_in_pools(tmp_path, 300, threads, objects)
    assert (run.status, run.stdout) == (0, "fine\n")
    assert sum(run.allocations) >= threads * objects
    shared = run.stats["shared"]
    assert shared["peak_bytes"] > 0.9 * threads * objects * 64
    assert shared["peak_resident_bytes"] < 1.2 * threads * objects * 64
    assert (shared["pages"], shared["live_bytes"]) == (0, 0)
    assert sum(group["peak_resident_bytes"] for group in run.stats["groups"]) < 2 * MIB


def test_groups_that_a_thread_uses_much_have_pages_of_their_own(tmp_path: Path) -> None:
    """Sixteen KiB of a group in a thread are shared, and no more."""
    threads, objects, pools = 4, 10000, 10
    run = run_in_pools(tmp_path, pools, threads, objects)
    assert (run.status, run.stdout) == (0, "fine\n")
    max_shared = threads * pools * (16384 + 64)
    assert 0 < run.stats["shared"]["peak_bytes"] <= max_shared
    # As far as seen when groups took their pages.
    own = sum(group["peak_bytes"] for group in run.stats["groups"])
    assert own >= threads * objects * 64 / 4


def test_the_loader_allocates_thread_local_memory_in_groups(tmp_path: Path) -> None:
    """Rows 8, 15 and 16: the plan has every small context, those of the loader and of the C
    library's threads among them; stacks are cached and used again."""
    heavy = library("tls_heavy")
    command = [str(program("tls_storm")), str(heavy)]
    plan = make_plan(tmp_path, [*command, "1"], "dense")
    run = run_planned([*command, "40"], plan)
    assert (run.status, run.stdout) == (0, f"0 failed, {40 * 8 * 50} grouped\n")
    assert run.allocations[0] > 40 * 8 * 50


def test_frees_in_one_thread_delay_no_call_of_another() -> None:
    """Row 43: a thread may purge much of its heap; no other thread's calls wait for it."""
    run = run_life(program("latency"))
    assert (run.status, run.stderr) == (0, "")
    assert int(run.stdout) < 20_000  # microseconds; freeing all of it takes far longer
    assert sum(run.allocations) > 400_000
