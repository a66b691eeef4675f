"""Every answer ends with a command, which works as it was printed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.shared.evaluation_data import unpack
from support.command import REPOSITORY, Outcome, compile_c, halo
from support.programs.sources import LIST

OUTPUT = "3998000\n"  # of 2000 nodes; the status is 7
PROGRAM = ["--allow-status", "7", "--", "./my list", "2000"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("next lines")
    compile_c(LIST.replace("round < 20", "round < 2"), folder / "my list")
    assert halo("record", "-o", "a b.profile", "--", "./my list", "2000", cwd=folder).status == 7
    planned = halo("plan", "a b.profile", "--strategy", "dense", cwd=folder)
    assert planned.status == 0, planned.stderr
    (folder / "planned").write_text(planned.stdout)
    return folder


def step_of(outcome: Outcome, *statuses: int) -> str:
    assert outcome.status in (statuses or (0,)), outcome.stderr
    (step,) = [line for line in outcome.stdout.splitlines() if line.startswith("Next: ")]
    return step.removeprefix("Next: ")


def paste(step: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", step], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_plan_is_used(folder: Path) -> None:
    shown = (folder / "planned").read_text()
    done = paste(step_of(Outcome(0, shown, "")), folder)
    assert (done.returncode, done.stdout, done.stderr) == (7, OUTPUT, "")
    doctor = halo("doctor", "--plan", "a b.plan", "--", "./my list", "2000", cwd=folder)
    done = paste(step_of(doctor), folder)
    assert (done.returncode, done.stdout) == (7, OUTPUT)
    update = halo("update", "a b.plan", "--for", "./my list", "-o", "new plan", cwd=folder)
    done = paste(step_of(update), folder)
    assert (done.returncode, done.stdout) == (7, OUTPUT)


def test_few_trials_are_repeated_with_more(folder: Path) -> None:
    found = halo(
        "study", "eval", "baseline", "--trials", "1", "--results", "r 1", *PROGRAM, cwd=folder
    )
    words = shlex.split(step_of(found))
    assert words[1:] == ["study", "eval", "baseline", *PROGRAM[:2], "--trials", "7", *PROGRAM[2:]]
    candidates = ["--candidates", "dense", "--results", "r 2"]
    found = halo("run", "--trials", "1", *candidates, *PROGRAM, cwd=folder)
    words = shlex.split(step_of(found))
    assert words[1:] == [
        *("run", *candidates[:2], *PROGRAM[:2], "--trials", "7", *PROGRAM[2:]),
    ]


def test_an_answer_about_allocators_has_a_step(folder: Path) -> None:
    found = halo(
        "study", "eval", "baseline", "--trials", "7", "--results", "r 3", *PROGRAM, cwd=folder
    )
    done = paste(step_of(found), folder)
    if "LD_PRELOAD" in step_of(found):
        assert (done.returncode, done.stdout) == (7, OUTPUT)
    else:
        assert done.returncode == 0, done.stderr
        assert (folder / "r 3.html").exists()


@pytest.mark.parametrize("least", ["0.01", "100"])
def test_a_check_has_a_step(folder: Path, least: str) -> None:
    given = ["--plan", "a b.plan", "--min-speedup", least, "--seconds", "4"]
    found = halo("check", *given, *PROGRAM, cwd=folder)
    words = shlex.split(step_of(found, 0, 1, 2))
    expected = {0: "exec", 1: "run", 2: "check"}[found.status]
    assert words[1] == expected and words[-2:] == ["./my list", "2000"]
    done = paste(step_of(found, 0, 1, 2), folder)
    if found.status == 0:
        assert (done.returncode, done.stdout) == (7, OUTPUT)
    else:
        assert done.returncode in (0, 1, 2), done.stderr


def test_an_aged_heap_has_a_figure(folder: Path) -> None:
    given = ["--trials", "1", "--occupancy", "0.5", "--no-split", "--results", "h 1"]
    done = paste(step_of(halo("study", "heap", "age", *given, *PROGRAM, cwd=folder)), folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "occupancy.svg").exists()


def test_compared_strategies_have_a_page(folder: Path) -> None:
    given = ["--trials", "1", "--no-simulation", "--results", "c 1"]
    found = halo("study", "eval", "compare", *given, *PROGRAM, *PROGRAM[2:], cwd=folder)
    done = paste(step_of(found), folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "report.html").exists()


@pytest.mark.parametrize("place", [[], ["--path", "place"]])
def test_what_is_deployed_has_a_step(folder: Path, place: list[str], tmp_path: Path) -> None:
    output = str(tmp_path / "d")
    given = ["--allocator", "jemalloc", "-o", output]
    given += [str(tmp_path / word) if word == "place" else word for word in place]
    done = paste(step_of(halo("deploy", *given, cwd=folder)), folder)
    assert done.returncode == 0 and "/run PROG ARGS" in " ".join(done.stdout.split()), done.stderr
    shutil.rmtree(output)
    done = paste(step_of(halo("deploy", *given, "--", "./my list", cwd=folder)), folder)
    assert done.returncode == 7, done.stderr


def test_a_plan_of_another_program_has_a_way_out(folder: Path) -> None:
    compile_c("int main(void) { return 7; }", folder / "other")
    given = ["exec", "--plan", "a b.plan", "--", "./other"]
    found = halo(*given, cwd=folder)
    assert found.status == 7 and f"with: {REPOSITORY}/bin/halo run -- " in found.stderr


def test_a_document_that_the_page_lacks_has_a_command(folder: Path) -> None:
    simulate = ["eval", "simulate", "--json", "s 1.json", "--", "./my list", "2000"]
    assert halo(*simulate, cwd=folder).status == 7
    kept = unpack(REPOSITORY / "evaluation" / "sweeps.parquet", folder / "kept")
    shutil.copy(next(path for path in kept if path.stem == "mesh"), folder / "s 2.json")
    for document in ("s 1.json", "s 2.json", "a b.profile"):
        refused = halo("report", document, cwd=folder)
        assert refused.status == 117
        done = paste(refused.stderr.partition("; see: ")[2], folder)
        assert done.returncode == 0, done.stderr


def test_the_machine_alone_has_a_step() -> None:
    found = halo("doctor")
    assert paste(step_of(found), Path(os.getcwd())).returncode == 0
