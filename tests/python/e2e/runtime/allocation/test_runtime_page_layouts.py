"""Plans with page layouts: where the blocks of a program start, in each thread and after reuse."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from halo.plan import PlanGroup, drawing_plan, read_plan, write_plan
from halo.plan.model import ALL_SLOTS, PageLayout
from support.command import BUILD, halo
from support.planned import Run, compile_program, run_planned

# Four threads allocate, reallocate and free at random; each prints the starts of its last blocks
# modulo a way of 4 KiB, with their sizes.
CHURN = r"""
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { KEPT = 200, ROUNDS = 20000, THREADS = 4 };
static const size_t size_of[] = {240, 256, 1024, 4080};
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *argument) {
  unsigned seed = (unsigned)(size_t)argument + 1;
  char *kept[KEPT] = {0};
  size_t sizes[KEPT] = {0};
  for (int i = 0; i < ROUNDS; ++i) {
    seed = seed * 1103515245 + 12345;
    unsigned at = seed / 65536 % KEPT;
    sizes[at] = size_of[seed >> 20 & 3];
    if (i % 3 == 0) {
      kept[at] = realloc(kept[at], sizes[at]);
    } else {
      free(kept[at]);
      kept[at] = malloc(sizes[at]);
    }
    memset(kept[at], 1, sizes[at]);
  }
  pthread_mutex_lock(&printing);
  for (int i = 0; i < KEPT; ++i)
    if (kept[i]) printf("%zu %zu\n", sizes[i], (size_t)((uintptr_t)kept[i] % 4096));
  pthread_mutex_unlock(&printing);
  for (int i = 0; i < KEPT; ++i) free(kept[i]);
  return NULL;
}
int main(void) {
  pthread_t all[THREADS];
  for (size_t i = 0; i < THREADS; ++i) pthread_create(&all[i], NULL, work, (void *)i);
  for (int i = 0; i < THREADS; ++i) pthread_join(all[i], NULL);
}
"""


@pytest.fixture(scope="module")
def churn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(tmp_path_factory.mktemp("churn"), CHURN, "-pthread")


# A checksum that does not depend on placement, of a workload whose arrays conflict.
LATTICE = ["4", "510", "3"]


def run_with(program: Path, folder: Path, layout: PageLayout) -> Run:
    plan = folder / "layout.plan"
    write_plan(drawing_plan([PlanGroup(False, 0, True, layout)], 4096, 0, None), plan)
    run = run_planned([str(program)], plan)
    assert (run.status, run.stderr) == (0, "")
    assert (run.stats["stepping"]["peak_bytes"] > 0) is layout.stepping
    return run


def starts(program: Path, folder: Path, layout: PageLayout) -> list[tuple[int, int]]:
    """Sizes, and slots of 64 bytes."""
    return starts_of(run_with(program, folder, layout))


def starts_of(run: Run) -> list[tuple[int, int]]:
    rows = [line.split() for line in run.stdout.splitlines()]
    assert len(rows) > 700
    return [(int(size), int(start) // 64) for size, start in rows]


def test_blocks_start_in_the_slots_of_the_mask(churn: Path, tmp_path: Path) -> None:
    found = starts(churn, tmp_path, PageLayout(starts=0xFFFF << 8))
    assert {slot for _, slot in found} <= set(range(8, 24))
    assert len({slot for size, slot in found if size == 4080}) > 8, "taken in turn"


def test_all_blocks_start_in_one_slot(churn: Path, tmp_path: Path) -> None:
    assert {slot for _, slot in starts(churn, tmp_path, PageLayout(starts=1))} == {0}


def test_allocations_step_to_the_slots_of_the_mask(churn: Path, tmp_path: Path) -> None:
    fewest = 1 << 20
    for _ in range(3):  # the thread that has the lock may be preempted
        run = run_with(churn, tmp_path, PageLayout(starts=0xFF << 8 | 1, stepping=True))
        forwarded = [slot for _, slot in starts_of(run) if slot not in {0, *range(8, 16)}]
        refused = run.stats["stepping"]["refused"]
        assert len(forwarded) <= refused
        fewest = min(fewest, refused)
    assert fewest < 4000, "the lock was held for long"


def test_conflicting_arrays_step_to_the_slots_of_the_recorded_table(tmp_path: Path) -> None:
    profile, plan = tmp_path / "a.profile", tmp_path / "a.plan"
    command = [str(BUILD / "bench" / "lattice"), *LATTICE]
    recorded = halo("record", "--conflicts=alpha21264", "-o", str(profile), "--", *command, "1")
    assert recorded.status == 0, recorded.stderr
    options = ("--option", "reading=table", "--option", "placement=stepping")
    planned = halo("plan", str(profile), "--strategy", "conflict", *options, "-o", str(plan))
    assert planned.status == 0, planned.stderr
    layouts = [group.layout for group in read_plan(plan).groups]
    assert len(layouts) > 3 and all(layout.stepping for layout in layouts)
    assert any(layout.starts != ALL_SLOTS for layout in layouts)
    alone = subprocess.run([*command, "2"], capture_output=True, text=True, check=True)
    run = run_planned([*command, "2"], plan)
    assert (run.status, run.stdout, run.stderr) == (0, alone.stdout, "")
    assert run.allocations == [4] * len(layouts), "an array of each call site in each block"
    stepping = run.stats["stepping"]
    assert stepping["peak_bytes"] == 4 * len(layouts) * 4080
    assert (stepping["live_bytes"], stepping["refused"]) == (0, 0)
    assert stepping["skipped_bytes"] > 0


def test_packed_blocks_use_few_slots_and_spread_ones_all(churn: Path, tmp_path: Path) -> None:
    packed = Counter(
        slot for size, slot in starts(churn, tmp_path, PageLayout(packed=True)) if size == 1024
    )
    spread = Counter(slot for size, slot in starts(churn, tmp_path, PageLayout()) if size == 1024)
    assert set(packed) <= {0, 16, 32, 48}
    assert len(spread) > 32
