"""halo study trace split on real programs: counts are exact, and its structures compile."""

from __future__ import annotations

import csv
import io
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.command import REPOSITORY, halo
from support.samples.split import document

OBJECTS, ROUNDS = 40, 30

# Volatile, so that each access in the source is one that executes.
C = f"""
#include <stdlib.h>
struct point {{ volatile int x, y; }};
struct item {{
  volatile int key;
  struct item *volatile next;
  volatile long first, second;
  struct point at;
  volatile char name[12];
  union {{ volatile int whole; volatile float part; }} either;
  volatile unsigned low : 3, high : 3;
}};
int main(void) {{
  struct item *items = calloc({OBJECTS}, sizeof *items);
  int sum = 0;
  for (int i = 0; i < {OBJECTS}; i++) {{
    items[i].next = items;
    items[i].at.y = i;
    items[i].name[3] = 'a';
    items[i].name[4] = 'b';
    items[i].either.part = 1;
  }}
  for (int round = 0; round < {ROUNDS}; round++)
    for (int i = 0; i < {OBJECTS}; i++) sum += items[i].key;
  items[3].first = sum;
  free(items);
}}
"""
C_USES = {
    "key": OBJECTS * ROUNDS,
    "next": OBJECTS,
    "first": 1,
    "second": 0,
    "at.x": 0,
    "at.y": OBJECTS,
    "name": 2 * OBJECTS,
    "either": OBJECTS,
    "high, low": 0,
}

CPP = f"""
namespace shapes {{
struct Base {{
  virtual ~Base() {{}}
  volatile int id = 1;
}};
template <class T> struct Shape : Base {{
  volatile T width = 2, height = 3, depth = 4;
  Shape *volatile next = nullptr;
}};
}}
int main() {{
  shapes::Shape<long> *first = nullptr;
  for (int i = 0; i < {OBJECTS}; i++) {{
    auto *shape = new shapes::Shape<long>;
    shape->next = first;
    first = shape;
  }}
  long sum = 0;
  for (int round = 0; round < {ROUNDS}; round++)
    for (auto *shape = first; shape != nullptr; shape = shape->next) sum += shape->width;
  return sum == 0;
}}
"""
CPP_USES = {
    "id": OBJECTS,
    "width": OBJECTS + OBJECTS * ROUNDS,
    "height": OBJECTS,
    "depth": OBJECTS,
    "next": 2 * OBJECTS + OBJECTS * ROUNDS,
}


def split_of(source: str, compiler: str, suffix: str, folder: Path, *flags: str) -> dict[str, Any]:
    """What halo study trace split says of a program, by way of all that comes before it."""
    (folder / f"program{suffix}").write_text(source)
    command = [
        str(REPOSITORY / "bin" / compiler),
        "-O2",
        *flags,
        f"program{suffix}",
        "-o",
        "program",
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    environment = {**os.environ, "HALO_TRACE": "file:program.trace"}
    subprocess.run([folder / "program"], cwd=folder, env=environment, check=True)
    columns = ("columns", "--no-simulation", "program.trace", "-o", "columns")
    assert halo(*columns, cwd=folder).status == 0
    outcome = halo("split", "columns", "--json", "split.json", "--csv", "split.csv", cwd=folder)
    assert (outcome.status, outcome.stderr) == (0, "")
    return document(folder / "split.json")


def uses_of(folder: Path, name: str) -> dict[str, int]:
    rows = csv.DictReader(io.StringIO((folder / "split.csv").read_text()))
    return {
        row["field"]: int(row["accesses"])
        for row in rows
        if row["class"] == name and row["part"] != "padding"
    }


def test_a_c_program(tmp_path: Path) -> None:
    found = split_of(C, "halo-cc", ".c", tmp_path)
    (item,) = found["classes"]
    assert uses_of(tmp_path, "item") == C_USES
    assert (item["class"], item["split"], item["bytes"]) == ("item", True, 64)
    assert (item["allocations"], item["largest_array"]) == (1, OBJECTS)
    # Of 1401 accesses to 9 fields a hot field has 78.
    assert item["indirect"] == sum(C_USES.values()) - C_USES["key"] - C_USES["name"]
    # The cold part has the bit-fields and the nameless union, which are to be filled in.
    size = f'_Static_assert(sizeof(struct item) == {item["hot_bytes"]}, "");'
    text = f"struct point {{ volatile int x, y; }};\n{item['suggestion']}{size}"
    subprocess.run(["gcc", "-fsyntax-only", "-xc", "-"], input=text, text=True, check=True)


def test_a_cpp_program_with_a_base_and_virtual_functions(tmp_path: Path) -> None:
    found = split_of(CPP, "halo-c++", ".cc", tmp_path)
    shape = next(it for it in found["classes"] if it["class"] == "shapes::Shape<long>")
    uses = uses_of(tmp_path, "shapes::Shape<long>")
    assert {name: it for name, it in uses.items() if "_vptr" not in name} == CPP_USES
    assert shape["bytes"] == 48 and shape["split"]
    hot, cold = shape["suggestion"].split("struct Shape_long {")[::-1]
    for name in ("width", "next"):
        assert f" {name};" in hot.replace("*", " ").replace("const ", "")
    for name in ("id", "height", "depth"):
        assert f" {name};" in cold
    assert "pointer to the virtual functions" in hot


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_counts_do_not_depend_on_the_optimiser(tmp_path: Path, level: str) -> None:
    split_of(C, "halo-cc", ".c", tmp_path, level)
    assert uses_of(tmp_path, "item") == C_USES
