"""`halo study locality`: exact counts of real programs, the report, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import pvariance
from typing import Any

import pytest

from halo.studies.pollution.locality.verdict import Answer
from support.command import BUILD, Outcome, compile_c, halo
from support.locality.replay import Cache, rate, replay
from support.locality.trace import Reader

# Two levels of 4 and 32 KiB, so that small programs fill them.
MACHINE = """
[[cache]]
name = "L2"
bytes = 4096
ways = 4

[[cache]]
name = "L3"
bytes = 32768
ways = 8
cycles = 45

[[tlb]]
name = "DTLB"
pages = 64
ways = 4
"""
PROGRAMS = {
    "server": ("300", "50", "40", "2", "1"),
    "sweep": ("4000", "3", "1"),
    "hospital": ("2", "20", "1"),
}
# An array that is swept, beside a small one that is used all the time.
POLLUTER = """
#include <stdlib.h>
enum { COUNT = 1 << 15, SMALL = 256, ROUNDS = 12 };
long *sweep(void) { return malloc(COUNT * sizeof(long)); }
long *table(void) { return malloc(SMALL * sizeof(long)); }
int main(void) {
  long *big = sweep(), *small = table(), sum = 0;
  for (int round = 0; round < ROUNDS; ++round)
    for (int at = 0; at < COUNT; at += 8) { ++big[at]; sum += ++small[at / 8 % SMALL]; }
  return sum == 42;
}
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(MACHINE)
    return path


def locality(tmp_path: Path, machine: Path, *words: str) -> tuple[Outcome, dict[str, Any]]:
    path = tmp_path / "found.json"
    outcome = halo("study", "locality", "--machine", str(machine), "--json", str(path), *words)
    return outcome, json.loads(path.read_text()) if path.exists() else {}


@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_are_those_of_a_slow_replay(name: str, machine: Path, tmp_path: Path) -> None:
    trace = tmp_path / "kept.objects"
    command = [str(BUILD / "bench" / name), *PROGRAMS[name]]
    outcome, document = locality(tmp_path, machine, "-o", str(trace), "--", *command)
    assert outcome.status in (0, 1), outcome.stderr
    found = document["locality"]
    levels = Cache(16, 4, below=Cache(64, 8))
    expected = replay(Reader().events(trace), levels)
    assert found["accesses"] == expected.accesses > 3000
    assert found["misses"] == expected.misses > 0
    assert sum(found["objects"]) == len(expected.rates) > 0
    assert found["objects"][-1] == sum(one >= 0.9 for one in expected.rates)
    assert found["pages"] == len(expected.differences)
    assert found["near_pages"] == sum(one <= 0.1 for one in expected.differences)
    for number, context in enumerate(found["contexts"]):
        objects = expected.contexts.get(number, [])
        misses = [miss for one in objects for miss in one.misses]
        rates = [one for one in (rate(item.misses) for item in objects) if one is not None]
        assert context["objects"] == len(objects)
        assert context["bytes"] == sum(one.size for one in objects)
        assert (context["accesses"], context["misses"]) == (len(misses), sum(misses))
        assert context["rated"] == len(rates)
        assert context["variance"] == pytest.approx(pvariance(rates) if rates else 0, abs=1e-4)


def test_polluters_are_named(machine: Path, tmp_path: Path) -> None:
    program = compile_c(POLLUTER, tmp_path / "polluter")
    outcome, document = locality(tmp_path, machine, "--", str(program))
    assert outcome.status == 0
    assert document["verdict"] == Answer.POLLUTES.value
    assert document["pollution"] > 0.9
    lines = outcome.stdout.splitlines()
    assert any("sweep" in line and "0.2" in line for line in lines), outcome.stdout
    assert not any("table" in line for line in lines)
    assert lines[-1].startswith("1 context pollutes the last-level cache")
    assert document["locality"]["random"] is None


def test_pages_of_random_accesses_are_judged(machine: Path, tmp_path: Path) -> None:
    program = compile_c(POLLUTER, tmp_path / "polluter")
    _, document = locality(tmp_path, machine, "--draws", "20000", "--", str(program))
    found = document["locality"]["random"]
    for clock in ("counters", "first", "pages"):
        assert found[clock]["samples"] > 100
    assert found["counters"]["misses"] > 10 * found["counters"]["false_hits"]
    assert found["counters"]["false_misses"] == 0
    assert found["pages"]["misses"] == 0, "the cache has fewer than 16 pages"
    assert found["traps"] > 0


def test_a_program_that_fits_the_cache(tmp_path: Path) -> None:
    command = [str(BUILD / "bench" / "sweep"), *PROGRAMS["sweep"]]
    outcome = halo("study", "locality", "--machine", "e7420", "--", *command)
    assert outcome.status == 1
    assert outcome.stdout.splitlines()[-1].endswith("it is hardly used.")


def test_a_stored_trace_gives_the_same(machine: Path, tmp_path: Path) -> None:
    trace = tmp_path / "kept.objects"
    command = [str(BUILD / "bench" / "sweep"), *PROGRAMS["sweep"]]
    _, first = locality(tmp_path, machine, "-o", str(trace), "--", *command)
    _, second = locality(tmp_path, machine, str(trace))
    unnamed = [{**one, "name": ""} for one in first["locality"]["contexts"]]
    assert {**first["locality"], "contexts": unnamed} == second["locality"]
    assert second["program"] == ""


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("trace", "--", "ls"), 111, "Give either a program to run or a TRACE, not both."),
        (("trace", "-o", "other"), 111, "need a program to run, not a stored TRACE"),
        (("trace",), 121, "it is not an object trace of halo"),
        (("--machine", "pdp11", "--", "/bin/true"), 117, "does not exist; halo has machines"),
        (("--machine", "no-cache.toml", "--", "/bin/true"), 117, "one to 4 entries [[cache]]"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    words: tuple[str, ...], status: int, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "trace").write_bytes(b"no trace")
    (tmp_path / "no-cache.toml").write_text('[[tlb]]\nname = "DTLB"\npages = 64\nways = 4\n')
    outcome = halo("study", "locality", *words, cwd=tmp_path)
    assert (outcome.status, outcome.stderr.count("\n")) == (status, 1), outcome.stderr
    assert sentence in outcome.stderr
