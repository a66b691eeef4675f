"""What the tracing pass calls variables, fields and types, and how much it can name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.command import REPOSITORY
from support.tracing_stub import (
    ALLOCATION,
    LOAD,
    STORE,
    Trace,
    build_stub,
    compile_traced,
    trace,
    traced,
)

BENCH = REPOSITORY / "bench" / "programs"
WORKLOADS = {
    "hospital": ["4", "50", "1"],
    "rbtree": ["5000", "10000", "2000", "1"],
    "mesh": ["30", "30", "3000", "1"],
    "scene": ["2000", "3", "1"],
    "server": ["500", "20", "50", "2", "1"],
}
ACCESSES = range(1, 6)


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_stub(tmp_path_factory.mktemp("stub"))


def described(found: Trace, variable: str) -> tuple[str, str, int]:
    (entry,) = {
        (event["type"], event["owner"], event["offset"])
        for event in found.of(LOAD, STORE, variable=variable)
    }
    return entry


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_fields_variables_and_elements(stub: Path, tmp_path: Path, level: str) -> None:
    found = traced(stub, tmp_path / "lists", "lists.c", level)
    assert described(found, "node.next") == ("node *", "node", 0)
    assert described(found, "node.pos.x") == ("double", "node", 16)
    assert described(found, "position.y") == ("double", "position", 8)
    assert described(found, "head") == ("node *", "", 0)
    assert described(found, "table[]") == ("int", "", 0)
    assert described(found, "graph.offsets") == ("int *", "graph", 0)
    assert described(found, "graph.offsets[]") == ("int", "", 0)
    assert described(found, "shared.part") == ("float", "word", 0)
    assert [event["type"] for event in found.of(ALLOCATION)] == ["node", "node", "int"]


def test_an_index_that_is_off_by_one(stub: Path, tmp_path: Path) -> None:
    """The constant part of such an address lies in the field in front of the array."""
    (tmp_path / "off.c").write_text(
        "struct row { int before[2]; long front; int cells[8]; long behind; } row;\n"
        "__attribute__((noinline)) void set(struct row* row, int i) { row->cells[i - 1] = 7; }\n"
        "__attribute__((noinline)) int get(struct row* row, int i) { return row->cells[i + 9]; }\n"
        "int main(int count, char** unused) { set(&row, count); return get(&row, -count - 8); }\n"
    )
    for level in ("-O0", "-O2"):
        found = traced(stub, tmp_path / "off", str(tmp_path / "off.c"), level)
        assert found.status == 7
        cells = found.of(LOAD, STORE, variable="row.cells[]")
        assert [event["function"] for event in cells] == ["set", "get"]


def test_notes_of_types(stub: Path, tmp_path: Path) -> None:
    found = traced(stub, tmp_path / "lists", "lists.c", "-O2")
    node = found.types["node"]
    assert (node["bytes"], node["type_kind"]) == (32, 1)
    fields = [(f["name"], f["type"], f["offset"], f["bytes"]) for f in node["fields"]]
    assert fields == [
        ("next", "node *", 0, 8),
        ("key", "int", 8, 4),
        ("high", "unsigned int", 12, 2),
        ("low", "unsigned int", 12, 1),
        ("pos", "position", 16, 16),
    ]
    assert [f["name"] for f in found.types["position"]["fields"]] == ["x", "y"]
    assert found.types["word"]["type_kind"] == 3
    assert found.types["graph"]["file"].endswith("tracing/lists.c")


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_classes_with_bases(stub: Path, tmp_path: Path, level: str) -> None:
    found = traced(stub, tmp_path / "shapes", "shapes.cc", level)
    square = found.types["drawing::Square"]
    assert [(f["name"], f["type"], f["offset"]) for f in square["fields"]] == [
        ("", "drawing::Shape", 0),
        ("side", "double", 16),
    ]
    assert "drawing::Shape" in found.types
    assert described(found, "drawing::Square.side") == ("double", "drawing::Square", 16)
    ids = found.of(STORE, function="drawing::Picture::add")
    assert {e["owner"] for e in ids if e["variable"].endswith(".id")} == {"drawing::Shape"}
    assert "drawing::Square" in {event["type"] for event in found.of(ALLOCATION)}


def compile_workload(stub: Path, folder: Path, name: str, level: str) -> Path:
    sources = [*BENCH.glob(f"{name}/*.c"), *BENCH.glob(f"{name}/*.cc"), BENCH / "common" / "args.c"]
    objects = []
    for source in sources:
        standard = "-std=gnu17" if source.suffix == ".c" else "-std=gnu++20"
        target = folder / f"{source.name}.o"
        done = compile_traced(stub, target, str(source), "-c", level, standard, f"-I{BENCH}")
        assert done.returncode == 0, done.stderr
        objects.append(str(target))
    done = compile_traced(stub, folder / name, *objects, "-lstdc++", "-lm", "-pthread")
    assert done.returncode == 0, done.stderr
    return folder / name


def share(events: list[dict[str, Any]], named: list[dict[str, Any]]) -> float:
    counted = sum(int(event["count"]) for event in named)
    return counted / sum(int(event["count"]) for event in events)


@pytest.mark.parametrize("name", WORKLOADS)
def test_nearly_all_accesses_have_a_name(stub: Path, tmp_path: Path, name: str) -> None:
    """Dynamic shares at -O2: what is called "temporary" is of the compiler's own making."""
    program = compile_workload(stub, tmp_path, name, "-O2")
    accesses = trace(program, *WORKLOADS[name], counts=True).of(*ACCESSES)
    named = [e for e in accesses if e["variable"] and not e["variable"].startswith("temporary")]
    owned = [event for event in accesses if event["owner"]]
    print(f"{name}: {share(accesses, named):.2%} named, {share(accesses, owned):.2%} in a class")
    assert share(accesses, named) > 0.95
