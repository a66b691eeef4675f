"""Random pools take every small object of a program, of any caller and any function."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from halo.binary.elf import build_id_of
from halo.plan import PlanGroup, PlanModule, drawing_plan, read_plan, write_plan
from support.planned import CHECKING_RUNTIME, EXTRA_RUNTIME, compile_program, make_plan, run_planned
from support.programs.interface import (
    ALLOCATORS,
    DIRECT,
    blame,
    build,
    library_of,
    made_of,
    preloads,
)

POOLS = 4


def draw_for(
    folder: Path, program: Path | None, pools: int = POOLS, alignment: int = 16, limit: int = 4096
) -> Path:
    """A plan without any profile; for any program where none is given."""
    module = PlanModule(build_id_of(program)) if program else None
    path = folder / f"{pools}-{alignment}.plan"
    write_plan(drawing_plan([PlanGroup(False, 0)] * pools, limit, alignment, module), path)
    return path


def check_even(allocations: Sequence[int], total: int) -> None:
    assert sum(allocations) == total
    assert all(abs(count - total / len(allocations)) < 0.1 * total for count in allocations)


# Through wrappers, pointers, libraries and threads; sizes up to, at and beyond the limit.
COUNTED = r"""
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long wrong;
static void check(char *p, size_t n, char fill) {
  if ((uintptr_t)p % 16 || malloc_usable_size(p) < n) ++wrong;
  memset(p, fill, n);
}
static void *work(void *argument) {
  enum { count = 4000 };
  static char *kept[2][count];
  char **mine = kept[argument != 0];
  for (int i = 0; i < count; ++i) check(mine[i] = malloc(i % 200), i % 200, i);
  for (int i = 0; i < count; ++i) {
    char *p = mine[i];
    for (int at = 0; at < i % 200; ++at) wrong += p[at] != (char)i;
    if (i % 3 == 0) free(p), mine[i] = 0;
  }
  for (int i = 0; i < count; i += 3) {
    char *p = mine[i] = calloc(1, 100);
    for (int at = 0; at < 100; ++at) wrong += p[at] != 0;
  }
  for (int i = 0; i < count; ++i) free(mine[i]);
  free(malloc(4097));
  free(strdup("by the C library"));
  return 0;
}
int main(int argc, char **argv) {
  pthread_t other;
  work(0);
  if (pthread_create(&other, 0, work, &other) || pthread_join(other, 0)) return 2;
  printf("%ld\n", wrong);
  fflush(stdout);
  return wrong != 0;
}
"""
# The two threads' own, and what the C library allocates for the thread and for printf.
COUNT = 2 * (4000 + 1334 + 1)
OTHERS = 4


@pytest.mark.parametrize("runtime", [EXTRA_RUNTIME, CHECKING_RUNTIME], ids=["normal", "checking"])
@pytest.mark.parametrize("pools", [1, 4])
def test_every_small_object_goes_to_a_pool(tmp_path: Path, runtime: Path, pools: int) -> None:
    program = compile_program(tmp_path, COUNTED, "-pthread")
    runs = [
        run_planned([str(program)], draw_for(tmp_path, program, pools), runtime) for _ in range(2)
    ]
    for run in runs:
        assert (run.status, run.stdout) == (0, "0\n"), run.stderr
        assert COUNT <= sum(run.allocations) <= COUNT + OTHERS
        check_even(run.allocations, sum(run.allocations))
        assert run.stats["active"] and not run.stats["reason"]
    assert runs[0].allocations == runs[1].allocations, "seeded the same in every run"


@pytest.mark.parametrize("pools", [1, POOLS])
def test_without_statistics_it_is_the_same_program(tmp_path: Path, pools: int) -> None:
    """HALO_STATS makes the runtime count, and leave out its quick way to a block."""
    program = compile_program(tmp_path, COUNTED, "-pthread")
    plan = draw_for(tmp_path, program, pools)
    run = run_planned([str(program)], plan, env={"HALO_STATS": ""})
    assert (run.status, run.stdout) == (0, "0\n"), run.stderr


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("arguments", ["here", "elsewhere"])
def test_every_pair(tmp_path: Path, allocator: str, arguments: str) -> None:
    """Every way to allocate with every way to free, on blocks of pools."""
    program = build(tmp_path, "cross.cc")
    for env, pools in (({}, POOLS), ({"HALO_STATS": ""}, POOLS), ({"HALO_STATS": ""}, 1)):
        run = run_planned(
            [str(program), arguments],
            draw_for(tmp_path, program, pools),
            env={"LD_PRELOAD": preloads(EXTRA_RUNTIME, library_of(allocator)), **env},
        )
        blame(run, library_of(allocator))
        assert run.status == 0, run.stderr
        made = made_of(run)
        minimum = sum(made[name] for name in DIRECT)
        assert not run.stats or sum(run.allocations) >= minimum > 0


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_the_corner_cases(tmp_path: Path, allocator: str) -> None:
    program = build(tmp_path, "corners.cc")
    run = run_planned(
        [str(program)],
        draw_for(tmp_path, program),
        env={"LD_PRELOAD": preloads(EXTRA_RUNTIME, library_of(allocator))},
    )
    assert run.status == 0 and run.stdout.endswith("done\n"), run.stderr
    assert sum(run.allocations) > 50000


def test_over_an_allocator_that_cannot_tell_sizes(tmp_path: Path) -> None:
    """What it has allocated stays with it when it grows."""
    program = build(tmp_path, "cross.cc")
    library = build(
        tmp_path, "small_malloc.c", "-shared", "-fPIC", "-DTOLERATES_NOTHING", name="small.so"
    )
    run = run_planned(
        [str(program), "here", "unknown"],
        draw_for(tmp_path, program),
        env={"LD_PRELOAD": preloads(EXTRA_RUNTIME, library)},
    )
    assert run.status == 0 and made_of(run), run.stderr


def test_the_limit_holds(tmp_path: Path) -> None:
    program = compile_program(tmp_path, COUNTED, "-pthread")
    run = run_planned([str(program)], draw_for(tmp_path, program, limit=99))
    assert (run.status, run.stdout) == (0, "0\n")
    check_even(run.allocations, sum(run.allocations))
    assert 2 * 2000 <= sum(run.allocations) <= 2 * 2000 + OTHERS


def test_a_plan_is_for_its_program_or_for_all(tmp_path: Path) -> None:
    program = compile_program(tmp_path, COUNTED, "-pthread")
    assert sum(run_planned([str(program)], draw_for(tmp_path, None)).allocations) >= COUNT
    other = run_planned([str(program)], draw_for(tmp_path, Path("/usr/bin/env")))
    assert (other.status, other.stdout) == (0, "0\n")
    assert other.stats["reason"] == "the plan is for another program, or another build of it"


@pytest.mark.parametrize("layout", ["true", "false"])
def test_everything_takes_what_was_not_recorded(tmp_path: Path, layout: str) -> None:
    """Also a context that the recorded run did not come to."""
    source = r"""
    #include <stdlib.h>
    #include <stdio.h>
    static long odd;
    static void keep(char *p) { odd += (long)p >> 3 & 1; *p = 1; }
    int main(int argc, char **argv) {
      for (int i = 0; i < 1000; ++i) keep(argc > 1 ? realloc(malloc(9), 24) : malloc(24));
      printf("%ld\n", odd);
    }
    """
    program = compile_program(tmp_path, source)
    options = ("--option", f"by_size={layout}")
    plan = make_plan(tmp_path, [str(program)], "everything", *options)
    run = run_planned([str(program), "other"], plan)
    assert run.status == 0 and 300 < int(run.stdout) < 700, "every second block of 24 bytes"
    assert run.stats["identification"] == "none needed"
    (count,) = run.allocations
    assert 2000 <= count < 2000 + 2 * OTHERS


def test_a_profile_says_that_objects_may_be_aligned_by_size(tmp_path: Path) -> None:
    source = r"""
    #include <stdio.h>
    #include <stdlib.h>
    int main(void) {
      long odd = 0;
      for (int i = 0; i < 1000; ++i) {
        char **p = malloc(24);
        *p = (char *)p;
        odd += (long)p >> 3 & 1;
      }
      fprintf(stderr, "%ld\n", odd);
    }
    """
    program = compile_program(tmp_path, source)
    plan = make_plan(tmp_path, [str(program)], "random-pools", "--option", "pools=2")
    assert read_plan(plan).at_random
    run = run_planned([str(program)], plan)
    assert run.status == 0
    assert 300 < int(run.stderr) < 700, "every second block of 24 bytes"
    plain = subprocess.run([program], capture_output=True, text=True, check=True)
    assert plain.stderr == "0\n"
