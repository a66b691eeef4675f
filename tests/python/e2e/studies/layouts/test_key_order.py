"""`halo study layout --key`: values of a field in the order of a layout, to reorder an input."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.command import REPOSITORY, halo
from support.samples.node_files import SIDE, distance, nodes
from support.traces import instrumented, trace_of

KEYS = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
enum { COUNT = 4 };
struct item {
  double real;
  int64_t wide;
  int16_t narrow;
  uint16_t same;
  uint32_t copied;
  struct item *next;
};
struct row { int64_t key; };
static struct item *items[COUNT];
static volatile int64_t sum;
int main(int argc, char **argv) {
  const uint32_t copied = argc;
  for (int at = 0; at < COUNT; ++at) {
    items[at] = malloc(sizeof *items[at]);
    items[at]->real = at + 0.1;
    items[at]->wide = INT64_MAX - at;
    items[at]->narrow = -at;
    items[at]->same = at / 2;
    items[at]->next = items[0];
    memcpy(&items[at]->copied, &copied, at == 0 ? argc * 4 : 0);
  }
  struct row *rows = malloc(COUNT * sizeof *rows);
  for (int at = 0; at < COUNT; ++at) rows[at].key = at;
  for (int at = 0; at < COUNT; ++at) sum += rows[at].key;
  for (int at = 0; at < COUNT; ++at) sum += items[at]->wide + items[at]->narrow;
}
"""


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace of four objects that are used in the order of their allocation."""
    folder = tmp_path_factory.mktemp("items")
    command = [str(REPOSITORY / "bin" / "halo-cc"), "-g", "-O1", "-fno-slp-vectorize", "-x", "c"]
    subprocess.run([*command, "-", "-o", str(folder / "items")], input=KEYS, text=True, check=True)
    return trace_of(folder / "items", folder / "trace")


def test_lines_by_the_key_of_the_layout_bring_neighbours_close(tmp_path: Path) -> None:
    program = instrumented("graph", tmp_path, "-fno-slp-vectorize")
    file, order = tmp_path / "nodes.txt", tmp_path / "order"
    lines = nodes()
    file.write_text("\n".join([*lines, ""]))
    trace = trace_of(program, tmp_path / "trace", str(file), "bfs", "3", "1")
    outcome = halo(
        "study", "layout", "--quick", "--key", "graph::Node.id", "--order", str(order), str(trace)
    )
    assert outcome.status in {0, 1}, outcome.stderr
    assert "Contexts" not in outcome.stdout
    ids = order.read_text().splitlines()
    assert sorted(map(int, ids)) == list(range(SIDE * SIDE))
    by_id = {line.split()[0]: line for line in lines}
    assert distance([by_id[one] for one in ids]) < distance(lines) / 5


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("real", {"0.1", "1.1", "2.1", "3.1"}),
        ("wide", {str(2**63 - 1 - at) for at in range(4)}),
        ("narrow", {"0", "-1", "-2", "-3"}),
    ],
)
def test_values_are_exact(items: Path, tmp_path: Path, field: str, values: set[str]) -> None:
    order = tmp_path / "order"
    order.write_text("replaced")
    outcome = halo(
        "study", "layout", "--quick", "--key", f"item.{field}", "--order", str(order), str(items)
    )
    assert outcome.status in {0, 1}, outcome.stderr
    assert set(order.read_text().splitlines()) == values
    assert order.read_text().count("\n") == 4


@pytest.mark.parametrize(
    ("key", "status", "words"),
    [
        ("item.same", 117, "item.same is not unique: 2 objects have the value"),
        ("item.copied", 117, "no value of item.copied for"),
        ("item.next", 117, "is a pointer"),
        ("item.missing", 117, "item has no field missing; it has: real, wide"),
        ("other.real", 117, "has the type other; the trace has: item"),
        ("row.key", 117, "objects of the type row are arrays"),
        ("item", 111, "TYPE.field"),
        (".real", 111, "TYPE.field"),
        ("item.", 111, "TYPE.field"),
    ],
)
def test_another_field_is_refused_in_one_sentence(
    items: Path, tmp_path: Path, key: str, status: int, words: str
) -> None:
    order = tmp_path / "order"
    order.write_text("mine")
    outcome = halo("study", "layout", "--quick", "--key", key, "--order", str(order), str(items))
    assert outcome.status == status, outcome.stderr
    assert words in outcome.stderr and outcome.stderr.count("\n") == 1
    assert order.read_text() == "mine"


def test_a_key_needs_a_file_and_a_trace_with_types(items: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.objects").write_bytes(b"halo-obj")
    for arguments, status, words in (
        (("--key", "item.real", str(items)), 111, "--order FILE"),
        (("--key", "item.real", "--order", "o", "--", "true"), 111, "halo-cc -g"),
        (("--key", "item.real", "--order", "o", "plain.objects"), 117, "no types and values"),
    ):
        outcome = halo("study", "layout", *arguments, cwd=tmp_path)
        assert outcome.status == status, outcome.stderr
        assert words in outcome.stderr and outcome.stderr.count("\n") == 1
    assert not (tmp_path / "o").exists()
