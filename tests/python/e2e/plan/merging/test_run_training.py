"""`halo run --also`: several recorded inputs; and a held-out one of another footprint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from halo.record.profile import INPUTS, read_profile
from support.command import compile_c, halo
from support.programs.sources import LIST
from support.refusals import USAGE, check

# The first argument chooses the call site of most objects.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long value; };
#define MAKER(name) \
  __attribute__((noinline)) static struct node *name(struct node *next, long value) { \
    struct node *node = malloc(sizeof *node); \
    node->next = next; \
    node->value = value; \
    return node; \
  }
MAKER(red) MAKER(blue)
int main(int argc, char **argv) {
  struct node *list = 0;
  long sum = 0;
  for (long i = 0; i < atol(argv[2]); ++i)
    list = argv[1][0] == 'r' ? red(list, i) : blue(list, i);
  for (int round = 0; round < 50; ++round)
    for (struct node *node = list; node; node = node->next) sum += node->value;
  printf("%s %ld\n", argc > 3 ? argv[3] : "", sum);
  return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("training")
    compile_c(PROGRAM, folder / "lists")
    compile_c(LIST, folder / "list")
    return folder


def test_plans_are_made_from_all_training_inputs(folder: Path) -> None:
    outcome = halo(
        *("run", "--trials", "1", "--candidates", "halo", "--results", "both"),
        *("--also", "blue 4000 'two words'", "--train", "red 9000"),
        *("--", "./lists", "red", "2000", "--", "./lists", "blue", "5000"),
        cwd=folder,
    )
    assert outcome.status == 0, outcome.stderr
    assert "recording input 3 of 3" in outcome.stderr
    assert "unlike the other inputs" in " ".join(outcome.stderr.split())
    found = INPUTS.of(read_profile(folder / "both" / "train.profile"))
    assert found is not None
    assert [it.args for it in found] == [
        ("blue", "4000", "two words"),
        ("red", "2000"),
        ("red", "9000"),
    ]
    review = json.loads((folder / "both" / "halo.plan.json").read_text())
    callers = [it["stack"][0] for group in review["groups"] for it in group["contexts"]]
    stacks = [review["frames"][at] for at in callers]
    assert {stack.split()[0].split("+")[0] for stack in stacks} >= {"red", "blue"}
    raw = json.loads((folder / "both" / "results.json").read_text())
    assert raw["commands"]["train-2"] == ["./lists", "blue", "4000", "two words"]
    assert raw["commands"]["train-3"] == ["./lists", "red", "9000"]
    assert raw["summary"]["record"]["slowdown"] > 0
    page = halo("report", "both", "-o", "page.html", cwd=folder)
    assert page.status == 0, page.stderr
    text = (folder / "page.html").read_text()
    assert "--also" in text and "train.profile" not in text


def test_an_interrupted_measurement_keeps_its_recordings(folder: Path) -> None:
    command = (
        *("run", "--trials", "1", "--candidates", "halo", "--results", "again"),
        *("--train", "blue 4000", "--", "./lists", "red", "2000", "--", "./lists", "red", "3000"),
    )
    results = folder / "again"
    assert halo(*command, cwd=folder).status == 0
    kept = {path: path.stat().st_mtime_ns for path in results.glob("stages/record-*")}
    profile = (results / "train.profile").read_bytes()
    assert len(kept) == 2
    (results / "results.json").unlink()
    (results / "train-2.profile").write_text("changed")
    assert halo(*command, cwd=folder).status == 0
    changed = [path.name for path, when in kept.items() if path.stat().st_mtime_ns != when]
    assert changed == ["record-2.json"], "only the recording whose profile is gone runs again"
    assert len((results / "train.profile").read_bytes()) == pytest.approx(len(profile), rel=0.1)


def test_another_footprint_is_said_in_terminal_and_json(folder: Path) -> None:
    outcome = halo(
        *("run", "--trials", "1", "--candidates", "none", "--results", "large"),
        *("--allow-status", "7", "--json", "large.json"),
        *("--hold-out", "1500000", "--", "./list", "20000"),
        cwd=folder,
    )
    assert outcome.status == 0, outcome.stderr
    warnings = json.loads((folder / "large.json").read_text())["warnings"]
    (found,) = [it for it in warnings if "The plan is chosen at a peak memory of" in it]
    assert "a larger measured input would show whether it helps there" in found
    assert found in outcome.stderr and found in outcome.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--train", "'red"), "is not a list of arguments (no closing quotation)"),
        (("--train", "red 10"), "An input of --also is given twice, or is the recorded one"),
        (("--also", "blue 1", "--also", "blue  1"), "An input of --also is given twice"),
        (
            ("--also", "blue 1", "--candidates", "search"),
            "The candidate search plans from the trace of one run",
        ),
    ],
)
def test_bad_training_inputs_are_refused_at_once(
    folder: Path, options: tuple[str, ...], words: str
) -> None:
    runs = ("--", "./lists", "red", "10", "--", "./lists", "red", "20")
    check(folder, USAGE, words, "run", *options, *runs)


def test_a_training_input_that_fails_ends_the_measurement(folder: Path) -> None:
    outcome = halo(
        *("run", "--trials", "1", "--results", "failed", "--train", "red"),
        *("--", "./lists", "red", "10", "--", "./lists", "red", "20"),
        cwd=folder,
    )
    assert outcome.status == 119
    assert "died by signal 11" in outcome.stderr
