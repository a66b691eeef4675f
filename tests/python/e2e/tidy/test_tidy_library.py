"""libhalo-tidy in programs: over every allocator, under a plan, and in the variants."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from halo.binary.process.allocators import Allocator, baseline_allocators
from support.command import BUILD, REPOSITORY, halo
from support.planned import RUNTIME, compile_program, make_plan

LIBRARY = BUILD / "lib" / "libhalo-tidy.so"
INCLUDE = REPOSITORY / "src" / "tidy" / "include"
LINKED = (f"-I{INCLUDE}", f"-L{LIBRARY.parent}", "-lhalo-tidy", f"-Wl,-rpath,{LIBRARY.parent}")

# Half of the objects are placed by hints; all are freed by free, some after a realloc.
PROGRAM = """
#include <halo/tidy.h>
#include <stdio.h>

struct item { struct item *next; long value; };

static struct item *make(tidy_ctx_t *ctx, unsigned i) {
  struct item *item = i % 2 ? tidy_alloc(ctx, sizeof *item, &i) : malloc(sizeof *item);
  item->value = i;
  return item;
}

int main(void) {
  tidy_ctx_t *ctx = tidy_create(NULL);
  tidy_stats_t stats;
  struct item *items = NULL, *next;
  long sum = 0;
  int owned = 0;
  for (unsigned i = 0; i < 100000; ++i) {
    struct item *item = make(ctx, i);
    item->next = items;
    items = item;
    owned += tidy_owns(item);
  }
  for (; items != NULL; items = next) {
    next = items->next;
    items = realloc(items, 400);
    sum += items->value;
    free(items);
  }
  tidy_stats(ctx, &stats);
  printf("%ld %d %llu\\n", sum, owned, (unsigned long long)stats.live_bytes);
  tidy_destroy(ctx);
  return 0;
}
"""
EXPECTED = "4999950000 50000 0\n"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(tmp_path_factory.mktemp("tidy"), PROGRAM, *LINKED)


def run(program: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    variables = {**os.environ, **(env or {})}
    done = subprocess.run(
        [program, *arguments], env=variables, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("allocator", baseline_allocators(), ids=lambda it: it.name)
def test_memory_of_tidy_may_be_freed_over_each_allocator(
    program: Path, allocator: Allocator
) -> None:
    behind = [str(LIBRARY), *([str(allocator.library)] if allocator.library else [])]
    assert run(program, env={"LD_PRELOAD": " ".join(behind)}) == EXPECTED


def test_a_plan_places_what_tidy_does_not(program: Path, tmp_path: Path) -> None:
    plan = make_plan(tmp_path, [str(program)])
    env = {"LD_PRELOAD": str(RUNTIME), "HALO_PLAN": str(plan)}
    assert run(program, env=env) == EXPECTED


def test_it_serves_in_a_small_address_space(program: Path) -> None:
    limited = ["sh", "-c", f"ulimit -v 200000; exec {program}"]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.split()[0] == EXPECTED.split()[0]


INPUTS = {
    "mesh": ("60", "60", "100000", "1"),
    "pagerank": ("3000", "30000", "3", "1"),
    "rbtree": ("3000", "10000", "500", "1"),
}
HINTS = ("ignored", "constant", "random", "reversed")


@pytest.mark.parametrize("name", INPUTS)
def test_a_variant_prints_the_same_whatever_its_hints(name: str) -> None:
    plain = run(BUILD / "bench" / name, *INPUTS[name])
    variant = BUILD / "bench" / f"{name}-tidy"
    for hints in HINTS:
        assert run(variant, *INPUTS[name], env={"HALO_BENCH_HINTS": hints}) == plain
    fixed = {"HALO_BENCH_BINS": "16", "HALO_BENCH_BUCKET": "4096"}
    assert run(variant, *INPUTS[name], env=fixed) == plain


def test_a_program_with_tidy_is_recorded(tmp_path: Path) -> None:
    profile = tmp_path / "mesh.profile"
    command = (str(BUILD / "bench" / "mesh-tidy"), *INPUTS["mesh"])
    done = halo("record", "-o", str(profile), "--", *command)
    assert done.status == 0, done.stderr
    assert done.stdout == run(BUILD / "bench" / "mesh", *INPUTS["mesh"])
