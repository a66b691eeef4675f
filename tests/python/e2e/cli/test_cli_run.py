"""From an unmodified program to a plan and a measurement, end to end, on small programs."""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest

from support.command import compile_c, halo
from support.programs.sources import LIST

KEYS = {
    "program",
    "strategy",
    "candidates",
    "allocators",
    "halo",
    "best_baseline",
    "speedup",
    "outputs_equal",
    "record",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    compile_c(LIST, folder / "list")
    return folder


@pytest.fixture(scope="module")
def plan(folder: Path) -> Path:
    assert halo("record", "--", "./list", "300", cwd=folder).status == 7
    outcome = halo("plan", "list.profile", "--strategy", "dense", cwd=folder)
    assert outcome.status == 0, outcome.stderr
    assert (folder / "list.plan.json").exists()
    return folder / "list.plan"


def test_plan_shows_groups_with_function_names(folder: Path, plan: Path) -> None:
    outcome = halo("plan", "list.profile", "--strategy", "halo", "-o", "other.plan", cwd=folder)
    assert outcome.status == 0, outcome.stderr
    assert "push" in outcome.stdout
    assert "other.plan.json" in outcome.stdout


@pytest.mark.parametrize("allocator", ["glibc", "jemalloc", "mimalloc", "tcmalloc"])
def test_exec_becomes_the_program(folder: Path, plan: Path, allocator: str) -> None:
    stats = folder / f"{allocator}.stats"
    outcome = halo(
        *("exec", "--plan", str(plan), "--allocator", allocator, "--", "./list", "300"),
        cwd=folder,
        env={"HALO_STATS": str(stats)},
    )
    assert (outcome.status, outcome.stdout, outcome.stderr) == (7, "897000\n", "")
    report = json.loads(stats.read_text())
    assert report["active"] is True
    assert sum(group["allocations"] for group in report["groups"]) >= 600


def test_the_printed_variables_do_the_same(folder: Path, plan: Path) -> None:
    printed = halo("exec", "--plan", str(plan), "--print-env", cwd=folder)
    assert printed.status == 0
    stats = folder / "by-hand.stats"
    variables = [*printed.stdout.split(), f"HALO_STATS={stats}"]
    done = subprocess.run(
        ["env", *variables, "./list", "300"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (7, "897000\n")
    assert json.loads(stats.read_text())["active"] is True


def test_programs_do_not_see_the_settings_of_libraries_of_halo(folder: Path) -> None:
    source = '#include <stdlib.h>\nint main(void) { return getenv("OPENBLAS_NUM_THREADS") != 0; }'
    compile_c(source, folder / "threads")
    assert halo("record", "--", "./threads", cwd=folder).status == 0
    given = {"OPENBLAS_NUM_THREADS": "2"}
    assert halo("record", "--", "./threads", cwd=folder, env=given).status == 1


def test_a_plan_for_another_build_is_refused(folder: Path, plan: Path, tmp_path: Path) -> None:
    compile_c(LIST + "\nint more(void) { return 1; }", tmp_path / "list")
    stale = ("exec", "--stale", "fail", "--plan", str(plan))
    outcome = halo(*stale, "--", str(tmp_path / "list"), cwd=folder)
    assert outcome.status == 116
    assert "another build" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_a_plan_for_another_program_is_refused_without_its_review(
    folder: Path, plan: Path, tmp_path: Path
) -> None:
    alone = tmp_path / "alone.plan"
    alone.write_bytes(plan.read_bytes())
    stale = ("exec", "--stale", "fail", "--plan", str(alone))
    outcome = halo(*stale, "--", "/usr/bin/env", cwd=folder)
    assert outcome.status == 116
    assert "another program than /usr/bin/env" in outcome.stderr
    assert halo("exec", "--plan", str(alone), "--", "./list", "3", cwd=folder).status == 7


def test_run_records_plans_chooses_and_measures(folder: Path) -> None:
    outcome = halo(
        *("run", "--trials", "2", "--candidates", "halo,dense", "--json", "summary.json"),
        *("--results", "results", "--allow-status", "7"),
        *("--", "./list", "2000", "--", "./list", "20000"),
        cwd=folder,
    )
    assert outcome.status == 0, outcome.stderr
    summary = json.loads((folder / "summary.json").read_text())
    assert set(summary) >= KEYS
    assert summary["program"] == "list"
    assert summary["outputs_equal"] is True
    assert "glibc" in summary["allocators"] and summary["use"] == "glibc"
    assert summary["halo"]["trials"] == 2
    strategies = {candidate["strategy"] for candidate in summary["candidates"]}
    assert {"none", "dense"} <= strategies
    raced = [candidate for candidate in summary["candidates"] if candidate["trials"]]
    assert {"none", "dense"} <= {candidate["strategy"] for candidate in raced}
    assert all(candidate["seconds"] > 0 for candidate in raced)
    assert summary["record"]["slowdown"] > 0
    raw = json.loads((folder / "results" / "results.json").read_text())
    compared = raw["trials"]["allocators_on_training"]
    assert set(compared) == {"glibc", "jemalloc", "mimalloc", "tcmalloc"}
    settings = set(raw["trials"]["settings_on_training"])
    assert set(summary["allocators"]) <= set(compared) | settings
    assert len(raw["trials"]["reference"]["halo"]) == 2
    assert {t["status"] for found in raw["trials"]["reference"].values() for t in found} == {7}
    assert "list" in outcome.stdout
    assert (folder / "results" / "train.profile").exists()


def test_run_with_none_alone_runs_the_plain_allocator(folder: Path) -> None:
    outcome = halo(
        *("run", "--trials", "1", "--candidates", "none", "--json", "none.json"),
        *("--results", "none", "--allow-status", "7"),
        *("--", "./list", "2000", "--", "./list", "4000"),
        cwd=folder,
    )
    assert outcome.status == 0, outcome.stderr
    summary = json.loads((folder / "none.json").read_text())
    assert summary["strategy"] == "none"
    assert summary["halo"]["median"] > 0
    assert "list: it cannot be told what is fastest: 1 trial concludes nothing;" in outcome.stdout
    assert "conclude nothing" in outcome.stderr.splitlines()[0], "said before anything is run"


BENCH_LISTS = {
    "workloads.toml": """
        [[workload]]
        name = "small-hospital"
        summary = "a village's"
        program = "hospital"
        train = ["4", "20", "1"]
        ref = ["4", "30", "2"]

        [[workload]]
        name = "small-variant"
        variant_of = "small-hospital"
        summary = "not measured with all"
        program = "hospital-freelist"
        train = ["4", "20", "1"]
        ref = ["4", "30", "2"]
        """,
    "programs.toml": """
        [[program]]
        name = "small-dot"
        summary = "draws a chain"
        package = "graphviz"
        program = "dot"
        generator = "chain.py"
        train = ["-Tsvg", "{inputs}/train.dot"]
        ref = ["-Tsvg", "{inputs}/ref.dot"]
        """,
    "chain.py": """
        import sys
        for name, length in (("train", 40), ("ref", 60)):
            edges = "; ".join(f"{i} -> {i + 1}" for i in range(length))
            with open(f"{sys.argv[1]}/{name}.dot", "w") as file:
                file.write("digraph g { " + edges + " }")
        """,
}


def bench(folder: Path, *arguments: str) -> Any:
    """The summary of the quick form: one trial and one candidate, of the programs listed above."""
    for name, text in BENCH_LISTS.items():
        (folder / name).write_text(textwrap.dedent(text))
    quick = ("--trials", "1", "--candidates", "dense", "--json", "bench.json")
    environment = {"HALO_BENCH": str(folder)}
    outcome = halo("bench", *arguments, *quick, cwd=folder, env=environment)
    assert outcome.status == 0, outcome.stderr
    return json.loads((folder / "bench.json").read_text())


def test_bench_measures_several_programs(folder: Path) -> None:
    """A workload of ours and one of Debian's, and not the variant."""
    ours, debians = bench(folder, "--all")
    assert (ours["program"], debians["program"]) == ("small-hospital", "small-dot")
    assert {c["strategy"] for c in ours["candidates"]} == {"none", "dense"}
    assert ours["outputs_equal"] and debians["outputs_equal"]
    assert (folder / "inputs" / "small-dot" / "ref.dot").exists()


def test_bench_measures_a_variant_that_is_named(folder: Path) -> None:
    variant = bench(folder, "small-variant")
    assert (variant["program"], variant["outputs_equal"]) == ("small-variant", True)
