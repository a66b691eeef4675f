"""Help, version, lists and the Makefile: what a newcomer types first."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from halo.cli.old_spellings import MOVED, current
from halo.cli.registry import ALL, Command, every_command, every_group
from halo.plan import describe_options
from halo.plan.strategies.factory import strategy_named
from halo.plan.strategies.registry import STRATEGIES
from halo.report.figures.registry import FIGURES
from support.command import REPOSITORY, compile_c, halo


def test_help_names_every_command() -> None:
    for outcome in (halo(), halo("--help")):
        assert outcome.status == 0
        assert outcome.stderr == ""
        for name in [entry.name for entry in ALL]:
            assert re.search(rf"^ +{name}\s", outcome.stdout, re.MULTILINE)
    for words, group in every_group():
        listed = halo(*words.split(), "--help").stdout
        for command in group.commands:
            assert re.search(rf"^ +{command.name}\s", listed, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "command"), every_command(), ids=[words for words, _ in every_command()]
)
def test_every_command_explains_itself(words: str, command: Command) -> None:
    outcome = halo(*words.split(), "--help")
    assert outcome.status == 0
    assert command.usage in outcome.stdout
    assert command.usage.startswith(f"halo {words}")


def test_old_spellings_are_those_of_commands() -> None:
    known = {words for words, _ in [*every_command(), *every_group()]}
    assert {" ".join(words) for words in MOVED.values()} <= known
    aged = current(["age", "--trials", "3"], (), runs=True)
    assert aged == ["study", "heap", "age", "--trials", "3"]
    assert current(["layout", "-o", "t"], (), runs=False) == ["study", "layout", "-o", "t"]
    assert current([], (), runs=False) == []
    traces, now = ["run", "show"], ["study", "trace"]
    assert current(["trace", "-o", "t"], traces, runs=True) == [*now, "run", "-o", "t"]
    assert current(["trace", "run"], traces, runs=True) == [*now, "run"]
    assert current(["trace", "show", "t"], traces, runs=False) == [*now, "show", "t"]
    assert current(["trace", "--help"], traces, runs=False) == [*now, "--help"]


def test_version() -> None:
    assert halo("--version").stdout.startswith("halo ")


def test_bench_lists_our_workloads_and_debians_programs() -> None:
    names = [line.split()[0] for line in halo("bench", "--list").stdout.splitlines()]
    ours = {"hospital", "scene", "mst", "mesh", "pagerank", "rbtree", "server"}
    ours |= {"sessions-240", "sessions-256", "nodes-4080", "nodes-4096", "lattice-510"}
    ours |= {"lattice-512", "scan", "churn", "tree", "lists", "hashindex", "frames", "sweep"}
    debians = {"povray", "xsltproc", "jq", "dot", "sqlite3", "python3", "xalan", "xmllint"}
    debians |= {"link-parser", "cc1plus", "clang", "cppcheck", "z3", "gringo", "yosys", "qpdf"}
    debians |= {"swipl"}
    variants = {"hospital-freelist", "scene-region"}
    for name in ("mesh", "pagerank", "rbtree"):
        variants |= {f"{name}-tidy", f"{name}-tidy-keys"}
    assert ours | debians | variants == set(names)


def line_of(lines: list[str], name: str) -> int:
    """The line that begins with the word."""
    return [line.split()[0] for line in lines].index(name)


def test_plan_lists_strategies_with_their_options() -> None:
    outcome = halo("plan", "--list")
    assert (outcome.status, outcome.stderr) == (0, "")
    lines = outcome.stdout.splitlines()
    names = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert names == [*(strategy.name for strategy in STRATEGIES), "any"]
    of_halo = lines[line_of(lines, "halo") : line_of(lines, "halo-hot")]
    assert [line.split()[0] for line in of_halo] == [
        "halo",
        *(name for name, _, _ in describe_options(strategy_named("halo").options)),
    ]
    assert any(line.split()[0] == "by_size" for line in lines[line_of(lines, "any") :])


def test_plot_lists_figures_and_metrics() -> None:
    outcome = halo("plot", "--list")
    assert (outcome.status, outcome.stderr) == (0, "")
    names = [line.split()[0] for line in outcome.stdout.split("\n\n")[0].splitlines()]
    assert names == [figure.name for figure in FIGURES]
    assert "peak-memory" in outcome.stdout and "negimprovement" in outcome.stdout


def test_make_alone_lists_the_targets() -> None:
    for arguments in (["make"], ["make", "help"]):
        # As typed in a shell, though the tests themselves may run under make.
        env = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
        done = subprocess.run(
            arguments, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=True
        )
        listed = {line.split()[0] for line in done.stdout.splitlines()}
        wanted = {"setup", "build", "demo", "test", "lint", "format", "bench", "clean", "help"}
        assert listed == wanted | {
            "aged",
            "check",
            "conflicts",
            "deb",
            "docs",
            "evaluation",
            "install",
            "tidy",
        }


def test_baseline_measures_the_baseline_allocators(tmp_path: Path) -> None:
    compile_c("int main(void) { return 3; }", tmp_path / "prog")
    outcome = halo(
        *("baseline", "--trials", "2", "--json", "out.json", "--results", "r"),
        *("--allow-status", "3", "--", "./prog"),
        cwd=tmp_path,
    )
    assert outcome.status == 0, outcome.stderr
    summary = json.loads((tmp_path / "out.json").read_text())
    assert set(summary["allocators"]) == {"glibc", "jemalloc", "mimalloc", "tcmalloc"}
    assert summary["outputs_equal"] is True
    assert summary["halo"] is None
    raw = json.loads((tmp_path / "r" / "results.json").read_text())
    assert len(raw["trials"]["reference"]["mimalloc"]) == 2
    assert raw["machine"]["huge_pages"]["enabled"]
    assert raw["machine"]["versions"]["jemalloc"]


def test_a_changing_output_fails_and_says_so_in_the_summary(tmp_path: Path) -> None:
    source = '#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("%d", getpid()); }'
    compile_c(source, tmp_path / "prog")
    outcome = halo(
        *("baseline", "--trials", "2", "--json", "out.json", "--", "./prog"), cwd=tmp_path
    )
    assert outcome.status == 119
    assert "standard output" in outcome.stderr
    assert json.loads((tmp_path / "out.json").read_text())["outputs_equal"] is False


def test_the_programs_input_reaches_every_run(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("x")
    compile_c("#include <stdio.h>\nint main(void) { return getchar(); }", tmp_path / "prog")
    arguments = ("--trials", "1", "--stdin", "in", "--allow-status", str(ord("x")), "--", "./prog")
    assert halo("baseline", *arguments, cwd=tmp_path).status == 0
