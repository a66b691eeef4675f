"""The tracing pass: which events a program logs, with which values, at which lines."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.tracing_stub import (
    ALLOCATION,
    COUNT,
    ENTER,
    EXIT,
    LOAD,
    PROGRAMS,
    READ,
    STORE,
    UPDATE,
    WRITE,
    Trace,
    build_stub,
    traced,
)

LEVELS = ["-O0", "-O1", "-O2", "-O3"]


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_stub(tmp_path_factory.mktemp("stub"))


def line_of(program: str, text: str) -> int:
    lines = (PROGRAMS / program).read_text().splitlines()
    return 1 + next(number for number, line in enumerate(lines) if text in line)


def open_frames(events: list[dict[str, Any]]) -> list[int]:
    """The slots of functions that were entered and not left, by the rule that readers follow."""
    frames: list[int] = []
    for event in events:
        if event["kind"] in (ENTER, EXIT):
            while frames and frames[-1] < event["word1"]:
                frames.pop()
        if event["kind"] == ENTER:
            frames.append(event["word1"])
        elif event["kind"] == EXIT:
            assert frames and frames.pop() == event["word1"]
    return frames


@pytest.mark.parametrize("level", LEVELS)
def test_a_program_says_what_it_does(stub: Path, tmp_path: Path, level: str) -> None:
    found = traced(stub, tmp_path / "lists", "lists.c", level)
    assert (found.status, found.stdout) == (0, "57 7\n")
    key = [
        (event["word1"], event["word2"], event["size"], event["line"])
        for event in found.of(STORE, variable="node.key")
    ]
    line = line_of("lists.c", "node->key = key")
    assert [entry[1:] for entry in key] == [(41, 4, line), (7, 4, line)]
    nodes = found.of(ALLOCATION, type="node")
    assert [event["word1"] + 8 for event in nodes] == [entry[0] for entry in key]
    assert {(event["word2"], event["element"]) for event in nodes} == {(32, 32)}
    sums = [event["word2"] for event in found.of(LOAD, variable="node.key", function="sum")]
    assert sums == [7, 41]
    offsets = [event["word2"] for event in found.of(STORE, variable="graph.offsets[]")]
    assert offsets == [0, 3, 6, 9]
    halves = found.of(STORE, variable="shared.part")
    assert [event["word2"] for event in halves] == [0x3F000000]
    assert open_frames(found.events) == []


def test_an_array_has_as_many_elements_as_were_asked_for(stub: Path, tmp_path: Path) -> None:
    found = traced(stub, tmp_path / "lists", "lists.c", "-O2")
    place = next(n for n, e in enumerate(found.events) if e.get("variable") == "graph.offsets")
    allocation, count = found.events[place : place + 2]
    assert (allocation["kind"], allocation["type"], allocation["word2"]) == (ALLOCATION, "int", 4)
    assert (count["kind"], count["word1"]) == (COUNT, 4)


def test_copies_are_ranges(stub: Path, tmp_path: Path) -> None:
    found = traced(stub, tmp_path / "lists", "lists.c", "-O2")
    line = line_of("lists.c", "struct node copy")
    read, write = found.of(READ, WRITE, line=line)
    assert (read["kind"], read["owner"], read["word2"]) == (READ, "node", 32)
    assert (write["kind"], write["variable"], write["word2"]) == (WRITE, "copy", 32)


def test_fills_are_ranges_and_library_calls_too(stub: Path, tmp_path: Path) -> None:
    source = tmp_path / "fill.c"
    source.write_text(
        "#include <string.h>\nchar text[64], copy[64];\n"
        "int main(int count, char** arguments) {\n"
        "  memset(text, count, 60);\n  memmove(copy, text, count + 9);\n  return 0;\n}\n"
    )
    found = traced(stub, tmp_path / "fill", str(source), "-O1", "-fno-builtin")
    ranges = [(e["kind"], e["variable"], e["word2"]) for e in found.of(READ, WRITE)]
    assert ranges == [(WRITE, "text[]", 60), (READ, "text[]", 10), (WRITE, "copy[]", 10)]


def test_atomic_updates_say_what_they_read(stub: Path, tmp_path: Path) -> None:
    found = traced(stub, tmp_path / "shapes", "shapes.cc", "-O2")
    assert found.stdout == "27 5 1 1\n"
    updates = found.of(UPDATE, function="std::__atomic_base<long>::operator++")
    assert [event["word2"] for event in updates] == [0]
    assert {event["variable"].split("::")[-1] for event in updates} == {"updates._M_i"}


@pytest.mark.parametrize("level", LEVELS)
def test_frames_are_left_as_they_were_entered(stub: Path, tmp_path: Path, level: str) -> None:
    """What an exception takes away is told by the slots; landing pads say themselves."""
    found = traced(stub, tmp_path / "shapes", "shapes.cc", level)
    assert found.stdout == "27 5 1 1\n"
    frames: list[int] = []
    for event in found.of(ENTER, EXIT):
        while frames and frames[-1] < event["word1"]:
            frames.pop()
        if event["kind"] == ENTER:
            frames.append(event["word1"])
        else:
            assert frames and frames.pop() == event["word1"]
    entered = [e["function"] for e in found.of(ENTER)]
    assert entered.count("(anonymous namespace)::guarded") == 1
    assert found.of(EXIT, function="(anonymous namespace)::guarded")


@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_jumps_stay_jumps(stub: Path, tmp_path: Path, level: str) -> None:
    """Return addresses would be others if the call that logs came behind the last call."""
    plain = tmp_path / "plain"
    source = str(PROGRAMS / "jumps.c")
    subprocess.run(["clang-19", level, source, "-o", str(plain), "-w"], check=True)
    expected = subprocess.run([plain], capture_output=True, text=True, check=True).stdout
    found = traced(stub, tmp_path / "jumps", "jumps.c", level, "-w")
    assert found.stdout == expected == "1 1\n"
    slots = {event["word1"] for event in found.of(ENTER) if event["function"] != "same"}
    chain = [e for e in found.of(ENTER, EXIT) if e["function"] in ("either", "jumping", "deepest")]
    kinds = [(e["kind"], e["function"]) for e in chain[:6]]
    assert kinds == [
        (ENTER, "either"),
        (EXIT, "either"),
        (ENTER, "jumping"),
        (EXIT, "jumping"),
        (ENTER, "deepest"),
        (EXIT, "deepest"),
    ]
    assert len({e["word1"] for e in chain[:6]}) == 1 and slots
    assert len({e["word2"] for e in chain[:6] if e["kind"] == ENTER}) == 1


def test_calls_that_must_be_jumps(stub: Path, tmp_path: Path) -> None:
    """Nothing may stand between such a call and the return; deep recursion needs no stack."""
    (tmp_path / "must.c").write_text(
        "long sum;\n__attribute__((noinline)) int down(int n, int step) {\n"
        "  sum += n;\n  if (n == 0) return 9;\n"
        "  __attribute__((musttail)) return down(n - step, step);\n}\n"
        "int main(int count, char** arguments) { return down(3000, count); }\n"
    )
    for level in ("-O0", "-O2"):
        found = traced(stub, tmp_path / "must", str(tmp_path / "must.c"), level)
        assert found.status == 9
        assert found.of(STORE, variable="sum")[-1]["word2"] == 3000 * 3001 // 2
        assert len({e["word1"] for e in found.of(ENTER, function="down")}) == 1
        assert len(found.of(ENTER)) == len(found.of(EXIT))


@pytest.mark.parametrize("level", LEVELS)
def test_elements_of_new(stub: Path, tmp_path: Path, level: str) -> None:
    """What new[] puts in front of elements that have a destructor is none of them."""
    found = traced(stub, tmp_path / "shapes", "shapes.cc", level)
    (place,) = [
        n
        for n, event in enumerate(found.events)
        if event["kind"] == ALLOCATION and event["type"].startswith("std::unique_ptr<int")
    ]
    assert (found.events[place]["word2"], found.events[place + 1]["word1"]) == (8, 4)


MASKED = """
#include <stdio.h>
int from[64], to[64], places[64];
__attribute__((noinline)) void copy(const int* mask) {
#pragma clang loop vectorize(enable) vectorize_width(8) interleave(disable) unroll(disable)
  for (int i = 0; i < 8; ++i)
    if (mask[i]) to[i] = 5;
}
__attribute__((noinline)) int gather(void) {
  int sum = 0;
#pragma clang loop vectorize(enable) vectorize_width(8) interleave(disable) unroll(disable)
  for (int i = 0; i < 64; ++i) sum += from[places[i]];
  return sum;
}
int main(void) {
  if (!__builtin_cpu_supports("avx512f")) return 3;
  static const int none[8], all[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  copy(none);
  copy(all);
  for (int i = 0; i < 64; ++i) places[i] = 63 - i, from[i] = i;
  printf("%d %d\\n", to[2], gather());
  return 0;
}
"""


def test_vectors_with_masks(stub: Path, tmp_path: Path) -> None:
    """Masked out is not logged; a gather is as many reads as it has elements."""
    (tmp_path / "masked.c").write_text(MASKED)
    flags = ["-O3", "-mavx512f", "-mavx512vl", "-mprefer-vector-width=512"]
    found = traced(stub, tmp_path / "masked", str(tmp_path / "masked.c"), *flags)
    if found.status == 3:
        pytest.skip("this processor has no AVX-512")
    assert found.stdout == "5 2016\n"
    stores = found.of(STORE, variable="to[]", function="copy")
    assert [(event["size"], event["word2"]) for event in stores] == [(32, 5 << 32 | 5)]
    gathered = found.of(LOAD, variable="from[]", function="gather")
    assert [event["word2"] for event in gathered] == list(reversed(range(64)))
    first = gathered[0]["word1"]
    assert [first - event["word1"] for event in gathered] == [4 * n for n in range(64)]


def check_nothing_known(found: Trace) -> None:
    assert (found.status, found.stdout) == (0, "57 7\n")
    assert {event["line"] for event in found.of(LOAD, STORE)} == {0}
    assert {"head", "table", "total"} & found.variables(LOAD, STORE)
    assert found.of(ENTER, function="push") and found.types == {}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_without_debug_information(stub: Path, tmp_path: Path, level: str) -> None:
    check_nothing_known(traced(stub, tmp_path / "lists", "lists.c", level, debug=()))
