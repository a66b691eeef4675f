"""Predicted addresses against those of a run under libhalo.so, object by object."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from halo.base.settings import read_settings
from halo.binary.process.allocators import find_allocator
from halo.plan.runtimes import under_plan
from halo.plan.strategies.planning import make_plan, save_plan
from halo.record.profile import OBJECT_TRACE, read_profile
from halo.studies.search.placement import placement_of
from halo.studies.search.predictor import Sample, predictor
from support.command import compile_c, halo

ARENA = 0x3000_0000_0000  # where predictions have the arena
SLAB = 2 << 20

# Objects of many sizes and contexts, freed and reallocated at random. The addresses are written
# without stdio, which allocates.
PROGRAM = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { COUNT = 60000, LIVE = 5000 };
static void *live[LIVE];
static char text[COUNT][17];
static uint64_t state = 1;
static unsigned below(unsigned end) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % end;
}
__attribute__((noinline)) static void *make_small(void) { return malloc(16 + below(48)); }
__attribute__((noinline)) static void *make_pair(void) { return malloc(32); }
__attribute__((noinline)) static void *make_large(void) { return malloc(200 + below(3000)); }
__attribute__((noinline)) static void *make_zeroed(void) { return calloc(3, 40); }
__attribute__((noinline)) static void *make_rare(void) { return malloc(4096); }
// Some beyond the size that is tracked.
__attribute__((noinline)) static void *resize(void *old) {
  return realloc(old, below(16) == 0 ? 4200 + below(4000) : 8 + below(600));
}
int main(void) {
  for (unsigned at = 0; at < COUNT; ++at) {
    const unsigned kind = below(100), place = below(at < COUNT / 2 ? LIVE : LIVE / 4);
    void *made;
    if (kind < 20) {
      made = resize(live[place]);
    } else {
      free(live[place]);
      made = kind < 40 ? make_small() : kind < 70 ? make_pair() : kind < 85 ? make_large()
             : kind < 98 ? make_zeroed() : make_rare();
    }
    memset(made, 1, 8);
    live[place] = made;
    for (int digit = 0; digit < 16; ++digit)
      text[at][digit] = "0123456789abcdef"[(uint64_t)made >> (60 - 4 * digit) & 15];
    text[at][16] = '\\n';
  }
  return write(1, text, sizeof text) != sizeof text;
}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the program and its profile."""
    folder = tmp_path_factory.mktemp("addresses")
    program = compile_c(PROGRAM, folder / "program")
    outcome = halo("record", "--objects", "-o", str(folder / "profile"), "--", str(program))
    assert outcome.status == 0, outcome.stderr
    return folder


PLANS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "mixed": ("dense", {}),
    "by-size": ("dense", {"by_size": "true"}),
    "packed": ("dense", {"phase": "none"}),
    "per-site": ("per-site", {}),
    "some": ("hot-cold", {"coverage": "0.5"}),
    "everything": ("everything", {}),
    "everything-by-size": ("everything", {"by_size": "true"}),
}


@pytest.mark.parametrize("name", PLANS)
def test_every_object_is_where_it_was_predicted(name: str, recorded: Path, tmp_path: Path) -> None:
    found, profile = tmp_path / "addresses", read_profile(recorded / "profile")
    plan = make_plan(profile, *PLANS[name])
    save_plan(plan, tmp_path / "plan")
    trace, placement = OBJECT_TRACE.of(profile), placement_of(plan, profile)
    assert trace is not None and placement is not None
    settings = read_settings()
    with predictor(settings, trace, Sample(), found) as running:
        running.predict([placement])
    content = found.read_bytes()
    predicted = list(struct.unpack(f"<{len(content) // 8}Q", content)[1:])
    predicted += [0] * (60000 - len(predicted))  # the last ones are not tracked
    glibc = find_allocator("glibc")
    environment = under_plan(settings.environment, settings.runtime, tmp_path / "plan", glibc)
    run = subprocess.run(
        [recorded / "program"], env=environment, capture_output=True, text=True, check=True
    )
    actual = [int(line, 16) for line in run.stdout.split()]
    assert len(predicted) == len(actual) == 60000
    grouped = [(a, p) for a, p in zip(actual, predicted, strict=True) if p >= ARENA]
    assert len(grouped) > (30000 if name != "some" else 1000)
    base = min(a for a, _ in grouped) // SLAB * SLAB
    assert [a - base for a, _ in grouped] == [p - ARENA for _, p in grouped]
