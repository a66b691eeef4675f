"""`halo check` on plans that help, that no longer do, and on what it cannot measure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import Outcome, compile_c, halo
from support.programs.rebuilt import COMPUTES, LINES_ABOVE, build

HOT = ("20000", "300")
COLD = ("20000", "3000")  # of the build that computes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program whose hot loop follows the objects, and one whose loop does not any more."""
    folder = tmp_path_factory.mktemp("check")
    build(folder / "hot")
    assert halo("record", "--", "./hot", "300", cwd=folder).status == 0
    chosen = ("--strategy", "halo", "-o", "hot.plan")
    assert halo("plan", *chosen, "hot.profile", cwd=folder).status == 0
    build(folder / "cold", COMPUTES)
    build(folder / "stale", LINES_ABOVE)
    update = halo("update", "hot.plan", "--for", "./cold", "-o", "cold.plan", cwd=folder)
    assert update.status == 0, update.stderr
    return folder


def check(folder: Path, name: str, *options: str, arguments: tuple[str, ...] = HOT) -> Outcome:
    plan = ("--plan", f"{name}.plan", "--json", f"{name}.json", "--clock", "processor")
    return halo("check", *plan, *options, "--", f"./{name}", *arguments, cwd=folder)


def summary_of(folder: Path, name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / f"{name}.json").read_text())
    return found


def test_a_plan_that_helps(folder: Path) -> None:
    """The objects between those that are visited cost every other cache line."""
    outcome = check(folder, "hot", "--min-speedup", "0.5")
    assert outcome.status == 0, outcome.stderr
    sentence, step = outcome.stdout.splitlines()
    assert step.endswith("halo exec --plan hot.plan --allocator glibc -- ./hot 20000 300")
    summary = summary_of(folder, "hot")
    assert summary["sentence"] == sentence
    assert (summary["answer"], summary["needed"]) == ("helps", None)
    rounds = summary["rounds"]
    assert isinstance(rounds, int) and rounds >= 8  # which suffice on an idle machine
    assert (summary["allocator"], summary["clock"]) == ("glibc", "processor")
    assert sentence.startswith("hot: the plan helps: with hot.plan over glibc it is ")
    for key in ("planned", "alone"):
        times = summary[key]
        assert isinstance(times, dict) and times["trials"] == rounds
    assert " s of processor time instead of " in sentence and "at least 0.5 " in sentence


def test_a_plan_that_no_longer_helps(folder: Path) -> None:
    outcome = check(folder, "cold", "--min-speedup", "1.5", arguments=COLD)
    assert outcome.status == 1, outcome.stdout
    sentence, step = outcome.stdout.splitlines()
    assert "does not help enough" in sentence and "at least 1.5 was asked for" in sentence
    assert step.endswith("run -- ./cold 20000 3000 -- ./cold 20000 3000")
    assert summary_of(folder, "cold")["answer"] == "does-not-help"


def test_the_allocator_is_that_of_the_measurement(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "hot.plan").write_bytes((folder / "hot.plan").read_bytes())
    (tmp_path / "summary.json").write_text('{"candidate": "hot", "allocator": "jemalloc"}')
    plan = ("--plan", str(tmp_path / "hot.plan"), "--min-speedup", "0.2")
    outcome = halo("check", *plan, "--", "./hot", "100", cwd=folder)
    assert outcome.status == 0 and "over jemalloc" in outcome.stdout, outcome.stderr
    outcome = halo("check", *plan, "--allocator", "glibc", "--", "./hot", "100", cwd=folder)
    assert outcome.status == 0 and "over glibc" in outcome.stdout, outcome.stderr


def test_a_budget_that_is_too_small(folder: Path) -> None:
    """It ends at once, and says which one would do."""
    outcome = check(folder, "cold", "--seconds", "1", arguments=("20000", "100000"))
    assert outcome.status == 2, outcome.stdout
    sentence, step = outcome.stdout.splitlines()
    assert "it cannot be told whether the plan helps" in sentence and "--seconds " in sentence
    assert " check --plan cold.plan " in step and "--clock processor --seconds " in step
    summary = summary_of(folder, "cold")
    assert (summary["rounds"], summary["speedup"], summary["planned"]) == (0, None, None)
    assert summary["interval"] == [None, None] and str(summary["needed"]) in sentence


def test_a_stale_plan(folder: Path) -> None:
    outcome = halo("check", "--plan", "hot.plan", "--", "./stale", *HOT, cwd=folder)
    assert (outcome.status, outcome.stdout) == (116, "")
    assert "halo update hot.plan --for" in outcome.stderr.splitlines()[-1]


UNSTEADY = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  long *p = malloc(32);
  p[0] = 1;
  if (argc > 2) printf("%s\n", getenv("HALO_PLAN") ? "planned" : "plain");
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""


@pytest.fixture(scope="module")
def unsteady(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unsteady")
    compile_c(UNSTEADY, folder / "prog")
    assert halo("record", "--", "./prog", cwd=folder).status == 0
    done = halo("plan", "--strategy", "one-pool", "prog.profile", cwd=folder)
    assert done.status == 0, done.stderr
    return folder


def test_a_program_that_fails(unsteady: Path) -> None:
    words = ("check", "--plan", "prog.plan", "--min-speedup", "0.01")
    outcome = halo(*words, "--", "./prog", "3", cwd=unsteady)
    assert outcome.status == 119 and "status 3" in outcome.stderr.splitlines()[-1]
    assert halo(*words, "--allow-status", "3", "--", "./prog", "3", cwd=unsteady).status == 0


def test_an_output_that_differs(unsteady: Path) -> None:
    words = ("check", "--plan", "prog.plan", "--min-speedup", "0.01")
    outcome = halo(*words, "--", "./prog", "0", "tell", cwd=unsteady)
    assert outcome.status == 119
    assert "under prog.plan over glibc" in outcome.stderr.splitlines()[-1]
    assert list(unsteady.glob("results/prog-*/different.stdout"))
    assert halo(*words, "--ignore-output", "--", "./prog", "0", "tell", cwd=unsteady).status == 0


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--", "./hot"), 111, "--plan"),
        (("--plan", "hot.plan"), 111, "The program is missing"),
        (("--plan", "hot.plan", "--min-speedup", "fast", "--", "./hot"), 111, "not a ratio"),
        (("--plan", "hot.plan", "--min-speedup", "nan", "--", "./hot"), 111, "not a ratio"),
        (("--plan", "hot.plan", "--allocator", "nosuch", "--", "./hot"), 111, "nosuch"),
        (("--plan", "none.plan", "--", "./hot"), 116, "cannot be read"),
        (("--plan", "hot.profile", "--", "./hot"), 116, "hot.profile"),
        (("--plan", "hot.plan", "--json", "no/x.json", "--", "./hot"), 117, "does not exist"),
        (("--plan", "hot.plan", "--", "env", "./hot"), 113, "env"),
    ],
)
def test_bad_input_is_one_sentence(
    folder: Path, words: tuple[str, ...], status: int, said: str
) -> None:
    outcome = halo("check", *words, cwd=folder)
    assert (outcome.status, outcome.stdout) == (status, "")
    [line] = outcome.stderr.splitlines()
    assert said in line
