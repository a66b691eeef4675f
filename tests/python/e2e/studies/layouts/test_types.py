"""`halo study layout` of a trace with types: the order by type, and graphs of some types."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import networkx
import pytest

from support.command import REPOSITORY, Outcome, compile_c, halo
from support.traces import trace_of

# Objects of two types in turn, with an array of numbers each, which are most of the objects.
PROGRAM = """
#include <stdlib.h>
enum { COUNT = 3000, ROUNDS = 4, SMALL = 1000 };
struct often { long key; };
struct rare { long key, count; };
static struct often *often[COUNT];
static struct rare *rare[COUNT];
static int *numbers[2 * COUNT];
static volatile long sum;
int main(void) {
  for (int at = 0; at < COUNT; ++at) {
    (often[at] = malloc(sizeof *often[at]))->key = at;
    for (int other = 0; other < 2; ++other)
      (numbers[2 * at + other] = malloc(6 * sizeof(int)))[1] = at;
    if (at < SMALL) (rare[at] = malloc(sizeof *rare[at]))->count = at;
  }
  for (int round = 0; round < ROUNDS; ++round)
    for (int at = 0; at < COUNT; ++at) sum += often[at]->key + numbers[2 * at][1];
  for (int at = 0; at < SMALL; ++at) sum += rare[at]->count + often[at]->key;
}
"""
OFTEN, RARE, NUMBERS = 8, 16, 24  # bytes of each


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("types")
    command = [str(REPOSITORY / "bin" / "halo-cc"), "-g", "-O1", "-x", "c", "-"]
    subprocess.run([*command, "-o", str(folder / "types")], input=PROGRAM, text=True, check=True)
    return trace_of(folder / "types", folder / "trace")


def layout(folder: Path, *arguments: str) -> tuple[Outcome, dict[str, Any], networkx.Graph]:
    """The outcome, the result, and the access graph without objects that have no edge."""
    path, drawn = folder / "found.json", folder / "graph.graphml"
    options = ("--quick", "--json", str(path), "--graph", str(drawn))
    outcome = halo("study", "layout", *options, *arguments)
    assert outcome.status in {0, 1}, outcome.stderr
    graph = networkx.read_graphml(drawn)
    graph.remove_nodes_from(list(networkx.isolates(graph)))
    return outcome, json.loads(path.read_text())["replayed"], graph


def sizes(graph: networkx.Graph) -> set[int]:
    return {data["size"] for _, data in graph.nodes(data=True)}


def test_an_order_by_type_is_replayed(trace: Path, tmp_path: Path) -> None:
    outcome, found, graph = layout(tmp_path, str(trace))
    cycles = {one["order"]: one["cycles"] for one in found["replays"]}
    assert cycles["by-type"] < cycles["as-recorded"], "each round uses two of the three kinds"
    assert "no types" not in outcome.stdout
    assert sizes(graph) == {OFTEN, RARE, NUMBERS}
    assert graph.number_of_nodes() > 3000 + 3000


@pytest.mark.parametrize(
    ("options", "kept", "count"),
    [
        (("--types", "often"), {OFTEN}, 3000),
        (("--types", "often,rare"), {OFTEN, RARE}, 4000),
        (("--top-types", "1"), {OFTEN}, 3000),
        (("--top-types", "9"), {OFTEN, RARE}, 4000),
    ],
)
def test_the_graph_is_of_the_chosen_types(
    trace: Path, tmp_path: Path, options: tuple[str, ...], kept: set[int], count: int
) -> None:
    _, found, graph = layout(tmp_path, *options, str(trace))
    assert sizes(graph) == kept
    assert graph.number_of_nodes() == count, "arrays of numbers are left out"
    assert found["accessed_objects"] == 3000 + 6000 + 1000, "but placed"


def test_a_trace_without_types_has_no_order_by_type(tmp_path: Path) -> None:
    program = compile_c(PROGRAM, tmp_path / "types")
    outcome, found, _ = layout(tmp_path, "--", str(program))
    assert "The trace has no types, so the order by-type is left out." in outcome.stdout
    assert "by-type" not in {one["order"] for one in found["replays"]}


def test_bad_types_are_one_sentence(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.objects").write_bytes(b"halo-obj")
    for arguments, status, words in (
        (("--types", "other", str(trace)), 117, "type other, or only arrays"),
        (("--types", "int", str(trace)), 117, "most objects: often, rare"),
        (("--types", ",", str(trace)), 111, "--types A,B"),
        (("--types", "often", "--top-types", "2", str(trace)), 111, "either"),
        (("--top-types", "0", str(trace)), 111, "0"),
        (("--types", "often", "plain.objects"), 117, "no types"),
        (("--top-types", "2", "--", "true"), 111, "halo-cc -g"),
    ):
        outcome = halo("study", "layout", *arguments, cwd=tmp_path)
        assert outcome.status == status, outcome.stderr
        assert words in outcome.stderr and outcome.stderr.count("\n") == 1
