"""`halo study eval simulate`: caches and TLBs simulated under real programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from halo.record.simulation.cost import modelled_cycles
from halo.record.simulation.latencies import CACHE_CYCLES, MEMORY_CYCLES, TLB_CYCLES, WALK_CYCLES
from support.command import compile_c, halo

# Two arrays of pointers to objects of 64 bytes: one small enough for the first level, one not.
ARRAYS = """
#include <stdlib.h>
enum { SMALL = 64, MANY = 8192, ROUNDS = 20 };
static long *few[SMALL], *many[MANY];
__attribute__((noinline)) static long *make_few(void) { return calloc(8, sizeof(long)); }
__attribute__((noinline)) static long *make_many(void) { return calloc(8, sizeof(long)); }
__attribute__((noinline)) static long sum_few(void) {
  long sum = 0;
  for (int at = 0; at < MANY; ++at) sum += ++*few[at % SMALL];
  return sum;
}
__attribute__((noinline)) static long sum_many(void) {
  long sum = 0;
  for (long at = 0; at < MANY; ++at) sum += ++*many[at * 4099 % MANY];
  return sum;
}
int main(void) {
  for (int at = 0; at < SMALL; ++at) few[at] = make_few();
  for (int at = 0; at < MANY; ++at) many[at] = make_many();
  long sum = 0;
  for (int round = 0; round < ROUNDS; ++round) sum += sum_few() + sum_many();
  return sum == 0;
}
"""
MACHINE = """
memory_cycles = 100
walk_cycles = 20
[[cache]]
name = "L1D"
bytes = 32768
ways = 8
[[cache]]
name = "L2"
bytes = 16777216
ways = 16
cycles = 10
[[tlb]]
name = "DTLB"
pages = 64
ways = 64
"""


@pytest.fixture(scope="module")
def arrays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(ARRAYS, tmp_path_factory.mktemp("arrays") / "arrays")


def simulated(program: Path, folder: Path, *options: str) -> dict[str, Any]:
    """What `--json` says."""
    (folder / "machine.toml").write_text(MACHINE)
    machine = ("--machine", str(folder / "machine.toml"))
    outcome = halo(
        "simulate", *machine, "--json", str(folder / "out.json"), *options, "--", str(program)
    )
    assert outcome.status == 0, outcome.stderr
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found


def test_misses_belong_to_the_context_and_the_line_that_make_them(
    arrays: Path, tmp_path: Path
) -> None:
    found = simulated(arrays, tmp_path)
    top = found["contexts"][0]
    assert top["stack"][0].startswith("make_many")
    rounds, many = 20, 8192
    assert top["misses"]["L1D"] == pytest.approx(rounds * many, rel=0.1)
    assert top["misses"]["L2"] <= 1.2 * many, "it holds all of them"
    few = next(c for c in found["contexts"] if c["stack"][0].startswith("make_few"))
    assert few["accesses"] == pytest.approx(2 * rounds * many, rel=0.1)
    assert few["misses"]["L1D"] < 0.05 * few["accesses"]
    assert found["code"][0]["place"].startswith("sum_many")
    assert found["misses"]["L1D"] >= top["misses"]["L1D"] + few["misses"]["L1D"]
    assert found["objects_for_half"] > many // 4


def test_costs_are_the_same_in_the_recorder_and_in_what_reads_results(
    arrays: Path, tmp_path: Path
) -> None:
    """For a machine without a description."""
    path = tmp_path / "out.json"
    assert halo("simulate", "--json", str(path), "--", str(arrays)).status == 0
    found = json.loads(path.read_text())
    levels = found["machine"]["caches"], found["machine"]["tlbs"]
    for kind, cycles in zip(levels, (CACHE_CYCLES, TLB_CYCLES), strict=True):
        assert [level["cycles"] for level in kind] == list(cycles[: len(kind)])
    assert found["machine"]["memory_cycles"] == MEMORY_CYCLES
    assert found["machine"]["walk_cycles"] == WALK_CYCLES
    misses = [[found["misses"][level["name"]] for level in kind] for kind in levels]
    expected = modelled_cycles(found["instructions"], *misses)
    assert found["cycles"] == pytest.approx(expected, rel=0.02), "two lines count once"


def test_misses_are_divided_into_classes(arrays: Path, tmp_path: Path) -> None:
    found = simulated(arrays, tmp_path, "--classes")
    assert found["version"] == 2
    total = found["classes"]
    assert total["compulsory"] + total["capacity"] + total["conflict"] == found["misses"]["L1D"]
    top = found["contexts"][0]["classes"]
    assert top["compulsory"] == 0, "calloc used all lines first"
    assert top["capacity"] == pytest.approx(20 * 8192, rel=0.1)
    assert found["outside"]["classes"]["compulsory"] >= 8192
    parts = [found["outside"], *found["contexts"]]
    assert sum(part["classes"]["conflict"] for part in parts) == total["conflict"]
    hot = found["hot_lines"]
    assert len(hot["by_slot"]) == 64 and sum(hot["by_slot"]) == hot["lines"]
    assert 0.5 * 8192 < hot["lines"] < 2 * 8192, "nearly all objects are used alike"


def test_a_machine_of_halo_is_named(arrays: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    options = ("--classes", "--machine", "alpha21264", "--json", str(path))
    outcome = halo("study", "eval", "simulate", *options, "--", str(arrays))
    assert outcome.status == 0
    assert "a fully associative cache hits" in outcome.stderr
    caches = json.loads(path.read_text())["machine"]["caches"]
    assert [(cache["sets"], cache["ways"]) for cache in caches] == [(512, 2), (65536, 1)]


def test_classes_need_a_machine_without_prefetching(arrays: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text(f'prefetch = ["next-line"]\n{MACHINE}')
    outcome = halo(
        "study", "eval", "simulate", "--classes", "--machine", str(machine), "--", str(arrays)
    )
    assert outcome.status == 111
    assert "--classes needs a machine without prefetching" in outcome.stderr


def test_a_plan_changes_what_is_missed(arrays: Path, tmp_path: Path) -> None:
    halo("record", "-o", str(tmp_path / "profile"), "--", str(arrays))
    halo("plan", str(tmp_path / "profile"), "--strategy", "per-site", cwd=tmp_path)
    plan = tmp_path / "profile.plan"
    assert plan.is_file()
    before = simulated(arrays, tmp_path, "--allocator", "jemalloc")
    after = simulated(arrays, tmp_path, "--plan", str(plan))
    assert after["plan"] == str(plan)
    assert after["contexts"] == []
    assert after["code"][0]["place"].startswith("sum_many")
    assert after["misses"]["L1D"] == pytest.approx(before["misses"]["L1D"], rel=0.3)
    assert after["misses"]["DTLB"] < 1.2 * before["misses"]["DTLB"]
    assert after["instructions"] != before["instructions"]


def test_the_program_keeps_its_output_and_status(tmp_path: Path) -> None:
    outcome = halo("simulate", "--rows", "2", "--", "sh", "-c", "echo out; exit 3")
    assert outcome.status == 3
    assert outcome.stdout == "out\n"
    assert "L1D" in outcome.stderr and "modelled cycles" in outcome.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("]", "is not TOML"),
        ("lines = 64", "unknown key 'lines'"),
        ("line = 48", "not a power of two"),
        ("line = 4096\npage = 2048", "lines larger than pages"),
        ("prefetch = 'all'", "prefetch that is not a list"),
        ("", "[[cache]]"),
        (MACHINE.replace("ways = 8", "ways = 7"), "not a multiple of its ways"),
        (MACHINE.replace("ways = 8", "way = 8"), "other keys"),
        (MACHINE.replace('"L1D"', '"L 1"'), "letters and digits"),
        (MACHINE + '[[tlb]]\nname = "L1D"\npages = 8\nways = 8\n', "two levels of one name"),
        (MACHINE.replace("bytes = 32768", "bytes = -1"), "no bytes from 0"),
        (MACHINE + "[huge_tlb]\npages = 0\nways = 4\n", "not a multiple of its ways"),
    ],
)
def test_a_machine_that_cannot_be_is_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(text)
    outcome = halo("simulate", "--machine", str(path), "--", "true")
    assert outcome.status == 117
    assert words in outcome.stderr and "machine.toml" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_no_machine_file_is_one_sentence(tmp_path: Path) -> None:
    outcome = halo("simulate", "--machine", str(tmp_path / "none"), "--", "true")
    assert outcome.status == 117
    assert "does not exist; halo has machines named alpha21264" in outcome.stderr


def test_the_recorder_is_needed(tmp_path: Path) -> None:
    outcome = halo("simulate", "--", "true", env={"HALO_BUILD": str(tmp_path)})
    assert outcome.status != 0
    assert "make build" in outcome.stderr


def test_a_sweep_has_the_misses_of_a_simulated_cache(arrays: Path, tmp_path: Path) -> None:
    """The first cache of the machine is one of the sweep, in the heap and outside."""
    found = simulated(arrays, tmp_path, "--sweep")
    sweep = found["sweep"]
    assert (sweep["outside"], sweep["heap"] + sweep["outside"]) == (
        found["outside"]["accesses"],
        found["accesses"],
    )
    caches = {(it["bytes"], it["ways"]): it for it in sweep["caches"]}
    assert len(caches) == 32
    same = caches[(32768, 8)]
    assert same["outside"] == found["outside"]["misses"]["L1D"]
    assert same["heap"] + same["outside"] == found["misses"]["L1D"]
    assert same["heap"] == pytest.approx(20 * 8192, rel=0.1)
    assert caches[(1 << 20, 8)]["heap"] < 0.1 * same["heap"], "it holds all objects"


def test_the_heap_is_what_is_tracked(arrays: Path, tmp_path: Path) -> None:
    all_of_it = simulated(arrays, tmp_path)["heap"]
    assert all_of_it["larger"] == 0
    assert all_of_it["bytes"] == all_of_it["final_live_bytes"] == 64 * (64 + 8192)
    less = simulated(arrays, tmp_path, "--max-object", "63")
    assert (less["heap"]["larger"], less["heap"]["bytes"]) == (64 + 8192, 0)
    assert less["outside"]["accesses"] == less["accesses"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--sweep"], "--sweep writes its result with --json FILE"),
        (["--sweep", "--plan", "p", "--json", "j"], "--sweep needs tracked objects"),
        (["--max-object", "64", "--plan", "p"], "--max-object needs tracked objects"),
        (["--max-object", "268435456"], "'268435456' is more than 268435455"),
    ],
)
def test_a_sweep_needs_a_place_and_objects(options: list[str], words: str) -> None:
    outcome = halo("simulate", *options, "--", "true")
    assert (outcome.status, outcome.stdout) == (111, "")
    assert words in outcome.stderr
