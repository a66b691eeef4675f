"""The stress patterns run to their end at tiny sizes, and their driver compares what they print.

A single run of a pattern is not inspected, so one that does less than it claims would go unnoticed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.soak.stress_cases import CASES
from support.command import BUILD, REPOSITORY

PROGRAMS = sorted({case.program for case in CASES})
TINY = {case.name: f"{case.tiny} 1" for case in CASES}
ALLOCATORS = {"glibc", "jemalloc", "mimalloc", "tcmalloc"}


def run(program: str, arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(BUILD / "bench" / "stress" / program), *arguments.split()]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def result(program: str, arguments: str) -> dict[str, Any]:
    done = run(program, arguments)
    assert (done.returncode, done.stderr) == (0, "")
    [line] = done.stdout.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_pattern_prints_one_line_of_json(case: Any) -> None:
    found = result(case.program, TINY[case.name])
    assert found["pattern"] == case.program
    assert found["seconds"] > 0 and found["cpu_seconds"] > 0
    assert found["operations"] >= 1000
    assert 1e6 < found["after_rss_bytes"] <= found["peak_rss_bytes"]


@pytest.mark.parametrize(
    ("program", "arguments", "operations"),
    [
        ("larson", "3 100 16 64 500 4 1 0", 2 * 3 * (100 + 4 * 500)),
        ("xmalloc", "2 3 1000 8 64 1 0", 2 * 2 * 1000),
        ("cache-scratch", "3 400 8 2 0", 2 * 3 * 400),
        ("cache-thrash", "3 400 8 2 0", 2 * 3 * 400),
        ("churn", "1000 16 256 5000 1 0", 2 * (1000 + 5000)),
        ("sawtooth", "1000 16 64 3 0 1 1 0", 2 * 3 * 1000),
        ("random", "random 1000 3 16 64 1 0", 2 * (1000 + 3 * 1000)),
        ("random", "twelfth 1200 3 16 64 1 0", 2 * (1200 + 3 * 100)),
        ("random", "reverse 1000 3 16 64 1 0", 2 * (1000 + 3 * 1000)),
    ],
)
def test_operations_follow_from_the_arguments(
    program: str, arguments: str, operations: int
) -> None:
    assert result(program, arguments)["operations"] == operations


def test_sawtooth_reads_memory_after_each_peak() -> None:
    found = result("sawtooth", "50000 64 64 3 0 1 1 0")
    assert len(found["after_peaks"]) == 3
    assert found["after_peaks"][-1] == found["after_rss_bytes"]
    assert found["peak_rss_bytes"] > 50000 * 64


def test_sawtooth_keeps_the_share_that_it_was_told() -> None:
    """Every peak refills what was freed, so the operations say what was kept."""
    freed = result("sawtooth", "100000 16 16 1 10 1 1 0")["operations"] / 2
    assert freed == pytest.approx(90000, rel=0.01)


def test_survivors_leaves_one_block_of_each_page() -> None:
    blocks, rounds, page = 100_000, 2, 4096
    pairs = result("random", f"survivors {blocks} {rounds} 48 48 1 0")["operations"] / 2
    survivors = blocks - (pairs - blocks) / rounds
    assert blocks * 48 / page <= survivors <= blocks * 64 / page + 10


def test_random_times_single_calls() -> None:
    found = result("random", "random 2000 2 16 64 1 0")
    expected = found["cpu_seconds"] * 1e9 / found["operations"]
    assert found["ns_per_operation"] == pytest.approx(expected, rel=1e-6)
    assert 0 < found["worst_malloc_ns"] < 1e9 and 0 < found["worst_free_ns"] < 1e9


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("wrong", ["", "x", "1", "-1 -1 -1 -1 -1"])
def test_wrong_usage_is_one_sentence_and_exit_code_2(program: str, wrong: str) -> None:
    done = run(program, wrong)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_the_driver_compares_a_plan_with_the_best_allocator(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    options = ["--tiny", "--trials", "2", "--json", str(path)]
    command = [sys.executable, "-m", "bench.soak.stress", "sawtooth-runs", *options]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["metric"]: row for row in json.loads(path.read_text())["rows"]}
    assert set(rows) == {"seconds", "cpu_seconds", "peak_rss_bytes", "after_rss_bytes"}
    for row in rows.values():
        assert set(row["samples"]) == ALLOCATORS | {"everything", "everything-by-size"}
        assert all(len(found) == 2 for found in row["samples"].values())
        medians = {name: found["median"] for name, found in row["summaries"].items()}
        assert row["best"] == min(ALLOCATORS, key=medians.__getitem__)
        for plan, ratio in row["ratios"].items():
            assert ratio["value"] == pytest.approx(medians[plan] / medians[row["best"]])
            assert f"{ratio['value']:.2f} (" in done.stdout
