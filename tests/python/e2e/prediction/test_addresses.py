"""Predicted addresses against those of a run under libhalo.so, object by object."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

from halo.plan import read_plan
from halo.prediction.placement import placement_of
from halo.prediction.predictor import Sample, predictor
from halo.profile import OBJECT_TRACE, read_profile
from halo.settings import read_settings
from support.command import compile_c, halo

ARENA = 0x3000_0000_0000  # where predictions have the arena
SLAB = 2 << 20

# Objects of many sizes and contexts, freed at random. The addresses are written without stdio,
# which allocates.
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
int main(void) {
  for (unsigned at = 0; at < COUNT; ++at) {
    const unsigned kind = below(100), place = below(at < COUNT / 2 ? LIVE : LIVE / 4);
    free(live[place]);
    void *made = kind < 40 ? make_small() : kind < 70 ? make_pair() : kind < 85 ? make_large()
                 : kind < 98 ? make_zeroed() : make_rare();
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


PLANS: Mapping[str, tuple[str, ...]] = {
    "mixed": ("--strategy", "dense"),
    "by-size": ("--strategy", "dense", "--option", "by_size=true"),
    "packed": ("--strategy", "dense", "--option", "phase=none"),
    "per-site": ("--strategy", "per-site"),
    "some": ("--strategy", "hot-cold", "--option", "coverage=0.5"),
    "everything": ("--strategy", "everything"),
    "everything-by-size": ("--strategy", "everything", "--option", "by_size=true"),
}


@pytest.mark.parametrize("name", PLANS)
def test_every_object_is_where_it_was_predicted(name: str, recorded: Path, tmp_path: Path) -> None:
    plan, found = tmp_path / "plan", tmp_path / "addresses"
    outcome = halo("plan", *PLANS[name], "-o", str(plan), str(recorded / "profile"))
    assert outcome.status == 0, outcome.stderr
    profile = read_profile(recorded / "profile")
    trace = OBJECT_TRACE.of(profile)
    placement = placement_of(read_plan(plan), profile)
    assert trace is not None and placement is not None
    with predictor(read_settings(), trace, Sample(), found) as running:
        running.predict([placement])
    content = found.read_bytes()
    predicted = struct.unpack(f"<{len(content) // 8}Q", content)[1:]
    run = halo("exec", "--plan", str(plan), "--", str(recorded / "program"))
    actual = [int(line, 16) for line in run.stdout.split()]
    assert len(predicted) == len(actual) == 60000
    grouped = [(a, p) for a, p in zip(actual, predicted, strict=True) if p >= ARENA]
    assert len(grouped) > (30000 if name != "some" else 1000)
    base = min(a for a, _ in grouped) // SLAB * SLAB
    assert [a - base for a, _ in grouped] == [p - ARENA for _, p in grouped]
