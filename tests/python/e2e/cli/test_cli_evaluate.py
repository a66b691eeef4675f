"""`halo study eval compare` of strategies on a small program, interrupted and resumed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from halo.base.settings import read_settings
from halo.cli.shared.evaluation import bundled_subjects
from halo.record.simulation.cost import INSTRUCTIONS_A_CYCLE
from support.command import BUILD, compile_c, halo

RBTREE = str(BUILD / "bench" / "rbtree")
TRAIN = (RBTREE, "20000", "40000", "2000", "1")
REFERENCE = (RBTREE, "30000", "50000", "2000", "2")
PROGRAM = ("--", *TRAIN, "--", *REFERENCE)


def evaluate(folder: Path, *options: str) -> Any:
    """The results of a short evaluation."""
    outcome = halo("evaluate", "--trials", "2", "--results", str(folder), *options, *PROGRAM)
    assert outcome.status == 0, outcome.stderr
    return json.loads((folder / "rbtree" / "results.json").read_text())


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluation")
    evaluate(folder, "--distance", "32,128")
    return folder


def test_every_configuration_is_timed_on_both_inputs_and_simulated(finished: Path) -> None:
    found = json.loads((finished / "rbtree" / "results.json").read_text())
    labels = {"glibc", "jemalloc", "mimalloc", "tcmalloc", "halo plan", "one-pool plan"}
    labels |= {"dense plan", "hot-streams plan", "random-pools plan", "halo plan by selectors"}
    assert set(found["trials"]["reference"]) == labels | {"halo"}
    assert set(found["training_trials_of_configurations"]) == labels
    assert set(found["configurations"]) == labels
    for samples in found["trials"]["reference"].values():
        assert len(samples) == 2
    simulated = found["simulation"]["configurations"]
    assert set(simulated) == labels
    for one in simulated.values():
        assert one["accesses"] > 500_000
        assert one["cycles"] > one["instructions"] / INSTRUCTIONS_A_CYCLE
    grouped = found["trials"]["reference"]["one-pool plan"][0]["runtime"]["groups"]
    assert sum(group["peak_bytes"] for group in grouped) >= 25_000 * 24
    assert [point["distance"] for point in found["distances"]["points"]] == [32, 128]
    assert found["simulation"]["contexts"][0]["misses"]["L1D"] > 0
    allocators = {"glibc", "jemalloc", "mimalloc", "tcmalloc"}
    assert set(found["summary"]["allocators"]) == allocators
    assert found["summary"]["best_baseline"] in allocators, "a plan is not a baseline"


def test_every_figure_can_be_drawn_of_it(finished: Path, tmp_path: Path) -> None:
    folder = str(finished / "rbtree")
    for figure in ("speedup", "misses", "random-pools", "distances", "affinity-graph", "model"):
        path = tmp_path / f"{figure}.svg"
        outcome = halo("plot", figure, folder, "-o", str(path))
        assert outcome.status == 0, outcome.stderr
        assert "</svg>" in path.read_text()
    assert "Rank correlation" in path.read_text()
    outcome = halo("report", folder, "-o", str(tmp_path / "page.html"))
    assert outcome.status == 0, outcome.stderr
    assert "random-pools plan" in (tmp_path / "page.html").read_text()


def test_the_model_is_not_drawn_of_what_was_not_simulated(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    results = tmp_path / "rbtree" / "results.json"
    found = json.loads(results.read_text())
    del found["simulation"]
    results.write_text(json.dumps(found))
    path = tmp_path / "model.svg"
    outcome = halo("plot", "model", str(tmp_path / "rbtree"), "-o", str(path))
    assert outcome.status == 117
    assert "nothing that was simulated" in outcome.stderr
    assert not path.exists()


def test_a_second_run_measures_nothing_again(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "copy")
    before = json.loads((finished / "rbtree" / "results.json").read_text())
    after = evaluate(tmp_path / "copy", "--distance", "32,128")
    assert after["trials"]["reference"] == before["trials"]["reference"]
    assert after["simulation"] == before["simulation"]
    assert after["distances"]["points"] == before["distances"]["points"]


def test_a_profile_that_was_changed_is_recorded_again(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "copy")
    profile = tmp_path / "copy" / "rbtree" / "train.profile"
    profile.write_bytes(b"changed")
    evaluate(tmp_path / "copy")
    assert profile.read_bytes() != b"changed"


def test_more_trials_are_added_to_those_there(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "copy")
    before = json.loads((finished / "rbtree" / "results.json").read_text())
    after = evaluate(tmp_path / "copy", "--trials", "3", "--no-simulation")
    samples = after["trials"]["reference"]["glibc"]
    assert len(samples) == 3
    assert samples[:2] == before["trials"]["reference"]["glibc"]
    assert "simulation" not in after
    again = evaluate(tmp_path / "copy", "--trials", "3")
    assert again["trials"] == after["trials"], "only what was left out is added"
    assert again["simulation"]["contexts"][0]["misses"]["L1D"] > 0


def test_another_build_of_the_program_is_measured_again(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "copy")
    other = tmp_path / "rbtree"
    shutil.copy(RBTREE, other)
    with other.open("ab") as file:
        file.write(b"\0")
    program = [str(other) if word == RBTREE else word for word in PROGRAM]
    outcome = halo(
        "evaluate",
        "--trials",
        "2",
        "--no-simulation",
        "--results",
        str(tmp_path / "copy"),
        *program,
    )
    assert outcome.status == 0, outcome.stderr
    before = json.loads((finished / "rbtree" / "results.json").read_text())
    after = json.loads((tmp_path / "copy" / "rbtree" / "results.json").read_text())
    assert after["trials"]["reference"]["glibc"] != before["trials"]["reference"]["glibc"]


def test_an_interrupted_evaluation_goes_on(tmp_path: Path) -> None:
    many = "1000"  # so that it cannot end before it is interrupted
    command = [sys.executable, "-m", "halo", "evaluate", "--trials", many, "--no-simulation"]
    running = subprocess.Popen(
        [*command, "--results", str(tmp_path), *PROGRAM],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=os.environ,
        # Whatever runs the tests in the background may have it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    stage = tmp_path / "rbtree" / "stages" / "training.json"
    deadline = time.monotonic() + 120
    while not stage.is_file() and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, complaint = running.communicate(timeout=60)
    assert running.returncode == 130, complaint
    assert not (tmp_path / "rbtree" / "results.json").exists()
    kept = json.loads(stage.read_text())["result"]
    found = evaluate(tmp_path, "--no-simulation")
    mine = [round_["samples"]["glibc"] for round_ in kept[:2]]
    assert found["training_trials_of_configurations"]["glibc"][: len(mine)] == mine


PLAIN_AND_VARIANT = """
[[workload]]
name = "plain"
summary = "a program"
program = "hospital"
train = ["3", "50", "1"]
ref = ["3", "60", "2"]

[[workload]]
name = "variant"
variant_of = "plain"
summary = "the same with another allocator"
program = "hospital-freelist"
train = ["3", "50", "1"]
ref = ["3", "60", "2"]
"""


@pytest.mark.parametrize(
    ("names", "everything", "chosen"), [([], True, ["plain"]), (["variant"], False, ["variant"])]
)
def test_a_variant_is_evaluated_only_where_it_is_named(
    tmp_path: Path, names: list[str], everything: bool, chosen: list[str]
) -> None:
    (tmp_path / "workloads.toml").write_text(PLAIN_AND_VARIANT)
    settings = replace(read_settings(), bench=tmp_path)
    subjects = bundled_subjects(settings, names, everything)
    assert [subject.name for subject in subjects] == chosen


def test_a_wrong_output_ends_it_and_leaves_no_results(tmp_path: Path) -> None:
    program = compile_c(
        '#include <stdio.h>\n#include <unistd.h>\nint main(void){printf("%d\\n", getpid());}',
        tmp_path / "pid",
    )
    words = ("--", str(program), "--", str(program))
    outcome = halo("evaluate", "--results", str(tmp_path / "out"), *words, cwd=tmp_path)
    assert outcome.status == 119
    assert "another standard output" in outcome.stderr
    assert not (tmp_path / "out" / "pid" / "results.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Name a bundled program"),
        (("nothing",), "bundled program 'nothing' does not exist"),
        (("hospital", *PROGRAM), "not both"),
        (("--distance", "8,x", "hospital"), "'x' is not a whole number"),
        (("--", RBTREE), "two `--`"),
    ],
)
def test_bad_arguments_are_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    outcome = halo("evaluate", *arguments)
    assert outcome.status == 111
    assert words in outcome.stderr
