"""`halo record --conflicts`: states and pairs of real programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.record.profile import CONFLICTS, Conflicts, read_profile
from support.command import compile_c, halo

# Thirteen objects a way apart, used in turn: one more than a set of twelve ways holds; and a table
# that is used between them.
SAME_SET = """
#include <stdlib.h>
enum { OBJECTS = 13, WAY = 4096, ROUNDS = 3000 };
static volatile long *objects[2 * OBJECTS];
__attribute__((noinline)) static long *make_slot(void) { return aligned_alloc(WAY, WAY); }
__attribute__((noinline)) static long *make_table(void) { return calloc(64, sizeof(long)); }
int main(void) {
  volatile long *table = make_table();
  for (int at = 0; at < OBJECTS; ++at) objects[at] = make_slot();
  for (int round = 0; round < ROUNDS; ++round)
    for (int at = 0; at < OBJECTS; ++at) *objects[at] += ++table[at];
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(SAME_SET, tmp_path_factory.mktemp("same_set") / "same_set")


def recorded(program: Path, folder: Path, *options: str) -> Conflicts:
    path = folder / "profile"
    outcome = halo("record", *options, "-o", str(path), "--", str(program))
    assert outcome.status == 0, outcome.stderr
    found = CONFLICTS.of(read_profile(path))
    assert found is not None
    return found


def test_objects_a_way_apart_conflict(program: Path, tmp_path: Path) -> None:
    found = recorded(program, tmp_path, "--conflicts=x86-48k-12")
    rounds, objects = 3000, 13
    slots = next(state for state in found.states if state.size == 4096)
    at = found.states.index(slots)
    assert (slots.objects, slots.peak) == (objects, objects)
    assert slots.conflict == pytest.approx(rounds * objects, rel=0.01)
    assert slots.hot_lines == 1
    pairs = {(pair.first, pair.second): pair for pair in found.pairs}
    assert pairs[at, at].conflict == pytest.approx(12 * rounds * objects, rel=0.02)
    table = next(at for at, state in enumerate(found.states) if state.size == 512)
    assert found.interference[at, at] == pytest.approx(12, abs=0.1)
    assert 1.9 < found.interference[at, table] < 3.1, "thirteen words are in two or three lines"


def test_a_machine_without_these_conflicts(program: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text(
        '[[cache]]\nname = "L1D"\nbytes = 65536\nways = 16\n'
        '[[tlb]]\nname = "T"\npages = 4\nways = 4\n'
    )
    found = recorded(program, tmp_path, f"--conflicts={machine}")
    slots = next(state for state in found.states if state.size == 4096)
    assert slots.conflict < 20


def test_an_empty_machine_is_bad_usage(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "profile"
    outcome = halo("record", "--conflicts=", "-o", str(path), "--", str(program))
    assert outcome.status == 111
    assert "a machine has a name, this one is empty" in outcome.stderr
    assert not path.exists()


def test_a_machine_that_does_not_exist_is_one_sentence(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "profile"
    outcome = halo("record", "--conflicts=pdp11", "-o", str(path), "--", str(program))
    assert outcome.status == 117
    assert outcome.stderr.count("\n") == 1
    machines = "alpha21264, e7420, e7420-prefetching, miucin, x86-32k-8, x86-48k-12"
    assert f"halo has machines named {machines}" in outcome.stderr
    assert not path.exists()
