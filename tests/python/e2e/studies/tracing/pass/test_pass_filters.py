"""The tracing pass's filters and lists of allocators, and what it says to those that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.tracing_stub import (
    ALLOCATION,
    COUNT,
    ENTER,
    EXIT,
    LOAD,
    READ,
    STORE,
    WRITE,
    Trace,
    build_stub,
    compile_traced,
    traced,
)


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_stub(tmp_path_factory.mktemp("stub"))


@pytest.mark.parametrize(
    ("instrument", "kinds"),
    [
        ("event=call", {ENTER, EXIT}),
        ("event=allocation", {ALLOCATION, COUNT}),
        ("event=read", {LOAD, READ}),
        ("event=access event=!read", {STORE, WRITE}),
        ("event=!access", {ENTER, EXIT, ALLOCATION, COUNT}),
    ],
)
def test_events_are_filtered(stub: Path, tmp_path: Path, instrument: str, kinds: set[int]) -> None:
    found = traced(stub, tmp_path / "lists", "lists.c", "-O2", instrument=instrument)
    assert {event["kind"] for event in found.events} == kinds


def test_functions_types_and_files_are_filtered(stub: Path, tmp_path: Path) -> None:
    def run(instrument: str) -> Trace:
        return traced(stub, tmp_path / "lists", "lists.c", "-O1", instrument=instrument)

    assert {e["function"] for e in run("function=pu* function=sum").of(LOAD, ENTER)} == {
        "push",
        "sum",
    }
    assert "sum" not in {e["function"] for e in run("function=!sum").of(LOAD, ENTER)}
    nodes = run("type=node event=access")
    assert {e["owner"] for e in nodes.events} == {"node"}
    assert run("file=*/lists.c").events and run("file=lists.c").events
    assert run("file=!lists.*").events == []


def test_allocators_of_ones_own(stub: Path, tmp_path: Path) -> None:
    source = tmp_path / "pool.c"
    source.write_text(
        "#include <stdlib.h>\nstruct item { int a, b; };\n"
        "static char pool[4096];\n"
        "__attribute__((noinline)) int take(void** to, unsigned count, unsigned size) {\n"
        "  *to = pool + 64;\n  return (int)(count * size);\n}\n"
        "struct item* items;\n"
        "int main(void) {\n  take((void**)&items, 5, sizeof(struct item));\n"
        "  items[1].b = 3;\n  return 0;\n}\n"
    )
    listed = tmp_path / "allocators"
    listed.write_text("# the pool's\n\ntake 2 1 0  # fills in its first argument\n")
    found = traced(
        stub, tmp_path / "pool", str(source), "-O1", instrument=f"allocators={listed} event=!call"
    )
    (place,) = [n for n, e in enumerate(found.events) if e["kind"] == ALLOCATION]
    allocation, count = found.events[place : place + 2]
    assert (allocation["type"], allocation["word2"], count["word1"]) == ("item", 8, 5)
    assert found.of(STORE, variable="item.b")[0]["word1"] == allocation["word1"] + 8 + 4


@pytest.mark.parametrize(
    ("instrument", "sentence"),
    [
        ("event=acess", "'event=acess' names none of access, read, write, call, allocation"),
        ("colour=red", "is none of function=, type=, file=, event=, allocators="),
        ("function=[a", "'function=[a' is not a glob"),
        ("allocators=/nowhere", "the list of allocators /nowhere cannot be read"),
    ],
)
def test_what_is_not_understood(stub: Path, tmp_path: Path, instrument: str, sentence: str) -> None:
    done = compile_traced(stub, tmp_path / "lists", "lists.c", instrument=instrument)
    assert done.returncode == 1
    assert sentence in done.stderr and done.stderr.count("error:") == 1


def test_a_line_of_the_list_that_is_not_understood(stub: Path, tmp_path: Path) -> None:
    listed = tmp_path / "allocators"
    listed.write_text("take 2 1 0\ngive 2 one 0\n")
    done = compile_traced(stub, tmp_path / "x", "lists.c", instrument=f"allocators={listed}")
    assert done.returncode == 1
    assert f"{listed}:2 is malformed" in done.stderr
