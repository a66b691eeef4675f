"""Groups with spans: large objects of a program keep their content, in and outside rings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from halo.plan.layout import VERSION
from halo.plan.model import Spans
from halo.record.profile import Profile
from support.planned import CHECKING_RUNTIME, EXTRA_RUNTIME, compile_program, run_planned
from support.spans import plan_of_large, record_large

# Two threads allocate, clear, grow, shrink and free large objects, and check their content.
LARGE = r"""
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { KEPT = 6, ROUNDS = 800 };
static void fill(char *p, size_t size, char value) { p[0] = p[size / 2] = p[size - 1] = value; }
static int holds(const char *p, size_t size, char value) {
  return p[0] == value && p[size / 2] == value && p[size - 1] == value;
}
static void *work(void *argument) {
  unsigned seed = (unsigned)(size_t)argument;
  char *kept[KEPT] = {0};
  size_t sizes[KEPT] = {0};
  for (int i = 0; i < ROUNDS; ++i) {
    seed = seed * 1103515245 + 12345;
    unsigned at = seed / 65536 % KEPT;
    char value = (char)(at + 1);
    size_t size = 70000 + seed / 1024 % 300000;
    if (kept[at] && !holds(kept[at], sizes[at], value)) abort();
    if (kept[at] && malloc_usable_size(kept[at]) < sizes[at]) abort();
    if (i % 4 == 0) {
      size_t common = size < sizes[at] ? size : sizes[at];
      char first = kept[at] ? kept[at][0] : 0;
      kept[at] = realloc(kept[at], size);
      if (common && kept[at][0] != first) abort();
    } else if (i % 4 == 1) {
      free(kept[at]);
      kept[at] = calloc(1, size);
      for (size_t byte = 0; byte < size; byte += 1000) if (kept[at][byte]) abort();
    } else {
      free(kept[at]);
      kept[at] = malloc(size);
    }
    sizes[at] = size;
    fill(kept[at], size, value);
  }
  for (int at = 0; at < KEPT; ++at) free(kept[at]);
  return 0;
}
int main(void) {
  pthread_t threads[2];
  for (size_t i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, (void *)(i + 1));
  for (size_t i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  free(realloc(malloc(100000), 50));
  puts("intact");
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(tmp_path_factory.mktemp("spans"), LARGE, "-pthread")


@pytest.fixture(scope="module")
def profile(program: Path) -> Profile:
    return record_large([str(program)], program.with_suffix(".profile"))


def plan_with(profile: Profile, spans: Spans, folder: Path) -> Path:
    plan_of_large(profile, spans, folder / "a.plan")
    return folder / "a.plan"


@pytest.mark.parametrize("runtime", [EXTRA_RUNTIME, CHECKING_RUNTIME], ids=["usual", "checking"])
@pytest.mark.parametrize("ring", [0, 1 << 20, 1 << 23])
def test_large_objects_keep_their_content(
    program: Path, profile: Profile, ring: int, runtime: Path, tmp_path: Path
) -> None:
    plan = plan_with(profile, Spans(ring, confined=ring > 0), tmp_path)
    run = run_planned([str(program)], plan, runtime)
    assert (run.status, run.stdout) == (0, "intact\n"), run.stderr
    spans = run.stats["spans"]
    assert spans["allocations"] > 1000
    assert spans["live_bytes"] == 0
    assert (spans["confined"] > 0) == (ring > 0)
    assert (spans["unfit"] > 0) == (ring == 1 << 20), "twelve objects of up to 370000 bytes"


@pytest.mark.parametrize(
    ("version", "words"),
    [(5, "unknown field"), (VERSION + 1, "newer version than this runtime reads")],
)
def test_another_version_is_refused(
    program: Path, profile: Profile, tmp_path: Path, version: int, words: str
) -> None:
    """Version 5 has neither spans nor digests."""
    plan = plan_with(profile, Spans(1 << 20, confined=True), tmp_path)
    content = bytearray(plan.read_bytes())
    assert content[8] == VERSION
    content[8] = version
    plan.write_bytes(content)
    said = subprocess.run(
        [str(program)],
        env={"LD_PRELOAD": str(EXTRA_RUNTIME), "HALO_PLAN": str(plan)},
        capture_output=True,
        text=True,
    )
    assert said.stdout == "intact\n"
    assert len(said.stderr.splitlines()) == 1
    assert words in said.stderr
    assert "every allocation is forwarded" in said.stderr
