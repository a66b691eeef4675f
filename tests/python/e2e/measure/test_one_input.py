"""`halo run -- PROG ARGS`: one input for everything; and the commands around runs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from halo.base.settings import read_settings
from halo.binary.process.target import find_target
from halo.measure.runs.job import Job
from halo.measure.runs.launcher import Launcher
from halo.measure.runs.simulated_runs import run_recorder
from halo.record.merge import merge_recording
from halo.record.parts import Limits, gather_parts
from halo.record.profile import read_profile
from halo.record.registry import usable_engines
from support.command import compile_c, halo

# Reads its argument's file, which it removes; without one, it does not end.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long value; };
int main(int argc, char **argv) {
  struct node *list = 0;
  long rounds = 0, sum = 0;
  FILE *file = argc > 1 ? fopen(argv[1], "r") : 0;
  if (argc > 1 && (!file || fscanf(file, "%ld", &rounds) != 1)) return 5;
  for (long i = 0; i < 20000; ++i) {
    struct node *node = malloc(sizeof *node);
    node->next = list;
    node->value = i;
    list = node;
  }
  for (long round = 0; argc < 2 || round < rounds; ++round)
    for (struct node *node = list; node; node = node->next) sum += node->value;
  printf("%ld\n", sum);
  return argc > 1 && remove(argv[1]);
}
"""
QUICK = ("run", "--effort", "quick", "--trials", "1", "--results", "out")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    compile_c(PROGRAM, tmp_path / "prog")
    return tmp_path


def test_one_input_has_an_answer_with_its_preparation(folder: Path) -> None:
    """The quick effort records nothing, and its settings and plans are in the results."""
    around = ("--prepare", "echo 200 >number", "--cleanup", "echo run >>log")
    outcome = halo(*QUICK, *around, "--", "./prog", "number", cwd=folder)
    assert outcome.status == 0, outcome.stderr
    assert "prog: it cannot be told what is fastest: 1 trial concludes nothing" in outcome.stdout
    assert not (folder / "number").exists()
    raw = json.loads((folder / "out" / "results.json").read_text())
    trials = sum(len(its) for phase in raw["trials"].values() for its in phase.values())
    assert (folder / "log").read_text().count("run\n") > trials, "each run, also the first ones"
    assert raw["commands"]["reference"] == raw["commands"]["train"] == ["./prog", "number"]
    assert raw["commands"]["options"] == [*around, "--effort", "quick"]
    summary = raw["summary"]
    assert summary["unrecorded"] and summary["record"] is None and summary["outputs_equal"]
    assert {it["strategy"] for it in summary["candidates"]} == {"none", "everything"}
    assert any(":" in label for label in raw["trials"]["settings_on_training"])
    next_line = next(it for it in outcome.stdout.splitlines() if it.startswith("Next: "))
    words = shlex.split(next_line.removeprefix("Next: "))
    assert words[-3:] == ["--", "./prog", "number"] and words.count("--prepare") == 1


def test_a_preparation_that_fails_ends_the_measurement(folder: Path) -> None:
    for option in ("--prepare", "--cleanup"):
        (folder / "number").write_text("1")
        command = "echo the disk is full; exit 3"
        outcome = halo(*QUICK, option, command, "--", "./prog", "number", cwd=folder)
        assert outcome.status == 119
        said = f"The command of {option} ended with status 3: the disk is full."
        assert said in outcome.stderr.splitlines()[-1]


@pytest.mark.parametrize("engine", usable_engines(read_settings())[0], ids=lambda it: it.name)
def test_a_recording_that_is_ended_early_has_a_profile(folder: Path, engine: object) -> None:
    settings = read_settings()
    target = find_target(str(folder / "prog"), settings.environment)
    job, parts, path = Job(target, ()), folder / "parts", folder / "prog.profile"
    with Launcher() as launcher:
        run = run_recorder(
            settings,
            launcher,
            job,
            settings.environment,
            Limits(),
            parts,
            producer=engine,  # type: ignore[arg-type]
            enough=4.0,
        )
    assert run.was_cut and run.wall == 4.0
    merge_recording(gather_parts(parts), target.path, job.arguments, path)
    assert read_profile(path).accesses > 20000
