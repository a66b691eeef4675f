"""`halo plot` as a user calls it: files by their ending, errors of one line that leave nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import halo
from support.refusals import BAD_INPUT, BAD_PLAN, BAD_PROFILE, USAGE, check
from support.samples.results import document, measured_folder, save


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the command is called, with one results folder in it."""
    save(document(), tmp_path / "one")
    return tmp_path


def test_a_real_measurement_is_plotted(tmp_path: Path) -> None:
    results = str(measured_folder())
    outcome = halo("plot", "speedup", results, cwd=tmp_path)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout == "speedup: speedup.pdf\n"
    assert (tmp_path / "speedup.pdf").read_bytes().startswith(b"%PDF")
    outcome = halo("plot", "fragmentation", results, "-o", "table.csv", cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    assert (tmp_path / "table.csv").read_text().startswith("program,configuration,groups")


def test_options_reach_the_figure(folder: Path) -> None:
    outcome = halo(
        *("plot", "bars", "one", "-o", "bars.svg", "--metric", "time@relative"),
        *("--configurations", "glibc, mimalloc,glibc", "--baseline", "jemalloc"),
        cwd=folder,
    )
    assert outcome.status == 0, outcome.stderr
    drawn = (folder / "bars.svg").read_text()
    assert ">mimalloc<" in drawn and ">tcmalloc<" not in drawn
    assert "baseline: jemalloc;" in drawn


@pytest.mark.parametrize(
    ("status", "words", "arguments"),
    [
        (USAGE, "figure 'pie' does not exist; choose one of: affinity-graph", ["pie", "one"]),
        (USAGE, "RESULT", ["speedup"]),
        (USAGE, "takes results and no program", ["speedup", "one", "--", "prog"]),
        (USAGE, "end the name in .pdf, .svg, .png", ["speedup", "one", "-o", "x.jpg"]),
        (USAGE, "end the name in .md, .csv", ["fragmentation", "one", "-o", "x.pdf"]),
        (USAGE, "speedup has no --metric", ["speedup", "one", "--metric", "time"]),
        (USAGE, "distances has no --configurations", ["distances", "one", "--configurations", "a"]),
        (USAGE, "'time@fast' is not a metric", ["bars", "one", "--metric", "time@fast"]),
        (USAGE, "needs a metric", ["bars", "one"]),
        (USAGE, "'0' is not a number from 1", ["affinity-graph", "one", "--top", "0"]),
        (BAD_INPUT, "a/b", ["speedup", "one", "-o", "a/b/x.pdf"]),
        (BAD_INPUT, "none does not exist", ["speedup", "none"]),
        (BAD_INPUT, "both of the program prog", ["speedup", "one", "one/results.json"]),
        (BAD_INPUT, "no heat; measured were: time", ["bars", "one", "--metric", "heat"]),
        (BAD_INPUT, "holds no train.profile", ["affinity-graph", "one"]),
        (BAD_PROFILE, "x.profile", ["affinity-graph", "x.profile"]),
    ],
)
def test_what_is_refused_leaves_nothing(
    folder: Path, status: int, words: str, arguments: list[str]
) -> None:
    check(folder, status, words, "plot", *arguments)


def test_a_plan_that_is_none(folder: Path) -> None:
    (folder / "x.plan").write_text("nonsense")
    profile = str(measured_folder() / "train.profile")
    check(folder, BAD_PLAN, "x.plan", "plot", "affinity-graph", profile, "x.plan")
