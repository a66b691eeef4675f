"""Blocks at multiples of eight are served only to processes whose code was checked and relaxed."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from halo.plan import read_plan, write_plan
from halo.plan.compact import encode
from support.command import halo
from support.planned import RUNTIME, compile_program, make_plan, run_planned

# Mode `scan` reads blocks by aligned vectors, and `list` does not: it is what is recorded. The
# vector loads hide behind a function that no analysis sees through.
PROGRAM = r"""
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { long first, second; struct item *next; long pad[2]; };
__attribute__((noinline)) struct item *make(long i) {
  struct item *it = malloc(sizeof *it);
  it->first = i; it->second = 2 * i;
  return it;
}
__attribute__((noipa)) long scan(const __m128i *at) {
  __m128i two = _mm_load_si128(at);
  return _mm_cvtsi128_si64(two) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(two, two));
}
int main(int argc, char **argv) {
  struct item *list = 0;
  long sum = 0, odd = 0;
  for (long i = 0; i < 1000; ++i) { struct item *it = make(i); it->next = list; list = it; }
  for (int round = 0; round < 20; ++round)
    for (struct item *it = list; it; it = it->next) sum += it->first + it->second;
  if (argc > 1 && strcmp(argv[1], "scan") == 0)
    for (struct item *it = list; it; it = it->next) sum += scan((const __m128i *)it);
  for (struct item *it = list; it; it = it->next) odd += (uintptr_t)it % 16 != 0;
  fprintf(stderr, "%ld\n", odd);
  printf("%ld\n", sum);
}
"""
BOTH = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void *make(size_t n) { void *p = malloc(n); *(long *)p = 1; return p; }
int main(void) {
  long odd[2] = {0, 0};
  for (long i = 0; i < 2000; ++i) odd[i % 2] += (uintptr_t)make(i % 2 ? 1032 : 40) % 16 != 0;
  printf("%ld %ld\n", odd[0], odd[1]);
}
"""
SUMS = {"list": "29970000\n", "scan": "31468500\n"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("alignment")
    path = compile_program(folder, PROGRAM)
    return path, make_plan(folder, [str(path), "list"], "dense")


def misaligned(program: Path, plan: Path, mode: str, preload: str = "") -> int:
    """How many of the 1000 blocks lie at no multiple of 16; the output is as it should be."""
    env = {"LD_PRELOAD": f"{RUNTIME}:{preload}"}
    run = run_planned([str(program), mode], plan, env=env)
    assert (run.status, run.stdout) == (0, SUMS[mode])
    return int(run.stderr.splitlines()[-1])


def sealed(content: bytearray) -> bytes:
    content[12:16] = struct.pack("<I", zlib.crc32(content[64:]))
    return bytes(content)


@pytest.mark.parametrize("mode", SUMS)
def test_vector_loads_of_another_mode_are_relaxed(program: tuple[Path, Path], mode: str) -> None:
    path, plan = program
    assert any(each.relaxations for each in read_plan(plan).checked)
    assert misaligned(path, plan, mode) == 500


def test_what_may_be_a_stack_is_aligned_beside_small_objects(tmp_path: Path) -> None:
    """Of one context that makes both, the small ones alone lie at multiples of eight."""
    path = compile_program(tmp_path, BOTH)
    for layout in ("false", "true"):
        plan = make_plan(tmp_path, [str(path)], "dense", "--option", f"by_size={layout}")
        run = run_planned([str(path)], plan)
        assert run.status == 0
        odd = [int(it) for it in run.stdout.split()]
        assert odd[0] > 400 and odd[1] == 0


def test_a_plan_without_a_proof_is_served_with_16_bytes(
    program: tuple[Path, Path], tmp_path: Path
) -> None:
    """Plans made before version 3 trusted what a recording saw."""
    path, plan = program
    found = read_plan(plan)
    old = bytearray(encode(type(found)(**{**vars(found), "checked": ()})))
    old[8:12] = struct.pack("<I", 1)
    (tmp_path / "old.plan").write_bytes(sealed(old))
    assert misaligned(path, tmp_path / "old.plan", "scan") == 0


def test_an_unchecked_module_means_16_bytes(program: tuple[Path, Path], tmp_path: Path) -> None:
    path, plan = program
    other = compile_program(tmp_path, "int unknown;", "-shared", "-fPIC", name="other.so")
    assert misaligned(path, plan, "scan", str(other)) == 0


def test_code_that_is_not_as_the_plan_says_means_16_bytes(
    program: tuple[Path, Path], tmp_path: Path
) -> None:
    """Another tool may have written to it."""
    path, plan = program
    found = read_plan(plan)
    changed = tuple(
        module._replace(
            relaxations=tuple(each._replace(before=0xCC, after=0xCD) for each in module.relaxations)
        )
        for module in found.checked
    )
    write_plan(type(found)(**{**vars(found), "checked": changed}), tmp_path / "changed.plan")
    assert misaligned(path, tmp_path / "changed.plan", "scan") == 0


def test_code_may_be_left_as_it_is(program: tuple[Path, Path], tmp_path: Path) -> None:
    path, plan = program
    profile, strict = str(plan.with_suffix(".profile")), tmp_path / "strict.plan"
    options = ("--strategy", "dense", "--option", "relax=false")
    assert halo("plan", profile, *options, "-o", str(strict)).status == 0
    assert misaligned(path, strict, "scan") == 0


# Blocks made before and after a library comes, which the library reads by aligned vectors when it
# is told to: in its constructor it checks the existing blocks.
LIBRARY = r"""
#include <emmintrin.h>
#include <stddef.h>
extern void *shared[];
__attribute__((noipa)) static long scan(const __m128i *at) {
  return _mm_cvtsi128_si64(_mm_load_si128(at));
}
long seen = 0;
__attribute__((constructor)) static void look(void) {
  for (int i = 0; shared[i] != NULL; ++i) seen += scan(shared[i]);
}
"""
OPENER = r"""
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
void *shared[101];
__attribute__((noinline)) long *make(long i) {
  long *it = malloc(40);
  it[0] = i;
  return it;
}
static int odd(int from, int to) {
  int count = 0;
  for (int i = from; i < to; ++i) {
    shared[i] = make(i);
    count += (uintptr_t)shared[i] % 16 != 0;
  }
  return count;
}
int main(int argc, char **argv) {
  long sum = 0;
  const int before = odd(0, argc > 1 ? 50 : 100);
  for (int round = 0; round < 20; ++round)
    for (int i = 0; shared[i]; ++i) sum += *(volatile long *)shared[i];
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (argc > 1 && library == NULL) return puts(dlerror()), 1;
  const int after = argc > 1 ? odd(50, 100) : 0;
  printf("%d %d %ld\n", before, after, library ? *(long *)dlsym(library, "seen") : -1);
}
"""


def opened(folder: Path, recorded: bool, strategy: str = "dense") -> list[int]:
    """Blocks at no multiple of 16 before and after the library came, and what it has summed up."""
    program = compile_program(folder, OPENER, "-rdynamic")
    library = compile_program(folder, LIBRARY, "-shared", "-fPIC", name="library.so")
    arguments = [str(library)] if recorded else []
    options = ("--option", "trust_loaded=true")
    plan = make_plan(folder, [str(program), *arguments], strategy, *options)
    run = run_planned([str(program), str(library)], plan)
    assert (run.status, run.stderr) == (0, "")
    return [int(word) for word in run.stdout.split()]


def test_a_library_that_was_checked_is_relaxed_before_its_constructors(tmp_path: Path) -> None:
    before, after, seen = opened(tmp_path, recorded=True)
    assert seen == sum(range(50))
    assert before == 25 and after == 25


def test_blocks_are_aligned_to_16_from_an_unknown_library_on(tmp_path: Path) -> None:
    program = compile_program(tmp_path, OPENER, "-rdynamic")
    source = "long seen = 7;"
    library = compile_program(tmp_path, source, "-shared", "-fPIC", name="library.so")
    for strategy in ("dense", "random-pools"):
        plan = make_plan(tmp_path, [str(program)], strategy)
        run = run_planned([str(program), str(library)], plan)
        before, after, seen = (int(word) for word in run.stdout.split())
        assert before > 0 and after == 0 and seen == 7, strategy
