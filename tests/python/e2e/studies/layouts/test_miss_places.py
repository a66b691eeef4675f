"""`halo study layout` says which objects keep every order from helping."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.command import REPOSITORY, Outcome, compile_c, halo
from support.traces import trace_of

# Objects that are used in the order of their allocation, so that no order helps.
PROGRAM = """
#include <stdlib.h>
enum { COUNT = 6000, ROUNDS = 4 };
struct large { long words[40]; };
struct element { long key, count; };
static struct large *objects[COUNT];
static volatile long sum;
int main(int argc, char **argv) {
  volatile struct element *single = malloc(sizeof *single);
  single->count = 1;
  if (argc > 1) {
    struct element *table = malloc(COUNT * 4 * sizeof *table);
    for (int at = 0; at < COUNT * 4; ++at) table[at].key = at;
    for (int round = 0; round < ROUNDS; ++round)
      for (int at = 0; at < COUNT * 4; at += 4) sum += table[at].key + single->count;
    return 0;
  }
  for (int at = 0; at < COUNT; ++at) {
    objects[at] = malloc(sizeof *objects[at]);
    for (int word = 0; word < 40; word += 8) objects[at]->words[word] = at;
  }
  for (int round = 0; round < ROUNDS; ++round)
    for (int at = 0; at < COUNT; ++at)
      for (int word = 0; word < 40; word += 8) sum += objects[at]->words[word];
}
"""


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built with halo-cc."""
    program = tmp_path_factory.mktemp("typed") / "places"
    command = [str(REPOSITORY / "bin" / "halo-cc"), "-g", "-O1", "-x", "c", "-"]
    subprocess.run([*command, "-o", str(program)], input=PROGRAM, text=True, check=True)
    return program


def layout(folder: Path, *arguments: str) -> tuple[Outcome, dict[str, Any]]:
    path = folder / "found.json"
    outcome = halo("study", "layout", "--quick", "--json", str(path), *arguments)
    assert outcome.status == 1, outcome.stdout + outcome.stderr
    return outcome, json.loads(path.read_text())


def of_all_misses(found: dict[str, Any]) -> dict[str, Any]:
    """The misses by place, whose sum a replay and a dataset have to agree on."""
    places: dict[str, Any] = found["replayed"]["miss_places"]
    first = next(iter(found["replayed"]["replays"][0]["misses"].values()))
    assert places["misses"] == first > 0
    return places


def test_an_array_over_the_largest_tracked_object_is_recognised(
    typed: Path, tmp_path: Path
) -> None:
    trace = trace_of(typed, tmp_path / "trace", "array")
    outcome, found = layout(tmp_path, str(trace))
    assert found["verdict"] == "array elements cannot be moved"
    assert "array elements cannot be moved" in outcome.stdout
    places = of_all_misses(found)
    assert places["arrays"] > 0.8 * places["misses"]
    assert (places["large"], places["typed"]) == (0, True)


def test_large_objects_of_a_known_type_are_to_be_split(typed: Path, tmp_path: Path) -> None:
    trace = trace_of(typed, tmp_path / "trace")
    outcome, found = layout(tmp_path, "--machine", "miucin", str(trace))
    assert found["verdict"] == "split first"
    assert "split first, with halo study trace split" in " ".join(outcome.stdout.split())
    assert "may be arrays" not in outcome.stdout
    places = of_all_misses(found)
    assert places["large"] > 0.8 * places["misses"]
    assert places["arrays"] == 0


def test_large_objects_of_a_program_without_types_may_be_arrays(tmp_path: Path) -> None:
    program = compile_c(PROGRAM, tmp_path / "places")
    outcome, found = layout(tmp_path, "--", str(program))
    assert found["verdict"] == "split first"
    assert "may be arrays" in " ".join(outcome.stdout.split())
    places = of_all_misses(found)
    assert places["large"] > 0.8 * places["misses"]
    assert not places["typed"]
