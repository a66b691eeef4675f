"""`--effort thorough`: deep analyses are tried where a cheap test says that they could matter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from halo.measure.deep.choice import DEEP_ANALYSES
from support.command import BUILD, Outcome, compile_c, halo

NAMES = [it.name for it in DEEP_ANALYSES]
LABELS = {it.name: {variant.label for variant in it.variants} for it in DEEP_ANALYSES}

# One large array: nothing that a plan could place better.
ARRAY = """
#include <stdio.h>
#include <stdlib.h>
enum { COUNT = 200000 };
int main(void) {
  long *all = malloc(COUNT * sizeof *all), sum = 0;
  for (int at = 0; at < COUNT; ++at) all[at] = at;
  for (int round = 0; round < 3; ++round)
    for (int at = 0; at < COUNT; ++at) sum += all[at];
  printf("%ld\\n", sum);
  free(all);
}
"""


def run(folder: Path, *words: str) -> tuple[Outcome, dict[str, Any]]:
    """What `halo run` says, and its summary."""
    options = ("--trials", "1", "--json", "summary.json", "--results", "results")
    outcome = halo("run", *options, *words, cwd=folder)
    assert outcome.status == 0, outcome.stderr
    return outcome, json.loads((folder / "summary.json").read_text())


def check_told(outcome: Outcome, summary: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The analyses by name: log and summary agree, and the race has the plans that they name."""
    said = " ".join(outcome.stderr.split())
    raced = [it["label"].partition(" over ")[0] for it in summary["candidates"]]
    found = {it["name"]: it for it in summary["analyses"]}
    for name, one in found.items():
        start = f"{name}: {'tried, ' if one['tried'] else 'not tried: '}"
        assert said.count(start) == 1 and one["why"] in said.partition(start)[2]
        assert one["plans"] == len(LABELS[name].intersection(raced))
        assert one["tried"] or not one["plans"]
    return found


def test_a_thorough_measurement_says_what_it_tried_and_what_not(tmp_path: Path) -> None:
    program = str(BUILD / "bench" / "hospital")
    outcome, summary = run(tmp_path, "--effort", "thorough", "--", program, "3", "10", "1")
    found = check_told(outcome, summary)
    assert list(found) == NAMES
    assert found["search"]["tried"] and found["search"]["plans"] > 0
    assert found["confine"]["why"] == "the contexts have no objects over 65,536 bytes"
    largest = {
        it["options"].get("max_object") for it in summary["candidates"] if it["strategy"] == "dense"
    }
    assert largest == {"4096"}, "as without a deep analysis"
    assert not any(LABELS["confine"] & {path.stem for path in (tmp_path / "results").iterdir()})


def test_where_nothing_could_matter_nothing_is_tried(tmp_path: Path) -> None:
    compile_c(ARRAY, tmp_path / "array")
    outcome, summary = run(tmp_path, "--effort", "thorough", "--", "./array")
    found = check_told(outcome, summary)
    assert list(found) == NAMES
    assert not any(it["tried"] for it in found.values())
    assert "of the misses are conflicts, less than 0.5%" in found["conflict"]["why"]
    assert "of the modelled cycles of misses and allocations, less than" in found["search"]["why"]


@pytest.mark.parametrize("name", NAMES)
def test_a_named_candidate_is_recorded_for_and_tried(tmp_path: Path, name: str) -> None:
    """Whatever a test would say."""
    compile_c(ARRAY, tmp_path / "array")
    outcome, summary = run(tmp_path, "--candidates", name, "--", "./array")
    found = check_told(outcome, summary)
    assert list(found) == [name]
    assert (found[name]["tried"], found[name]["why"]) == (True, "--candidates names it")
    assert (tmp_path / "results" / "train.objects").exists() == (name != "conflict")


def test_several_recorded_inputs_leave_out_what_needs_a_trace(tmp_path: Path) -> None:
    program = str(BUILD / "bench" / "hospital")
    words = ("--effort", "thorough", "--also", "3 8 2", "--", program, "3", "10", "1")
    found = check_told(*run(tmp_path, *words))
    why = "it plans from the trace of one run, and 2 inputs are recorded"
    assert [name for name, it in found.items() if it["why"] == why] == NAMES[1:]
    assert found["conflict"]["why"] != why


def test_a_measurement_that_tests_nothing_has_no_analyses(tmp_path: Path) -> None:
    compile_c(ARRAY, tmp_path / "array")
    outcome, summary = run(tmp_path, "--candidates", "dense", "--", "./array")
    assert summary["analyses"] == [] and "tried" not in outcome.stderr
