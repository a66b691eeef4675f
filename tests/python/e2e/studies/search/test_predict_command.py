"""`halo study eval predict` and the strategy search, where hot objects are scattered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from support.command import Outcome, compile_c, halo
from support.terminal import on_terminal

# Hot objects with four cold ones between each two: only if they are apart from these, the first
# cache holds them.
PROGRAM = """
#include <stdlib.h>
enum { COUNT = 800, ROUNDS = 100, STEP = 37 };
static long *hot[COUNT];
static void *cold[4 * COUNT];
__attribute__((noinline)) static long *make_hot(void) { return malloc(24); }
__attribute__((noinline)) static void *make_cold(void) { return malloc(24); }
int main(void) {
  for (int at = 0; at < COUNT; ++at) {
    *(hot[at] = make_hot()) = at;
    for (int one = 0; one < 4; ++one) cold[4 * at + one] = make_cold();
  }
  for (int round = 0; round < ROUNDS; ++round)
    for (long at = 0, next = 0; at < COUNT; ++at, next = (next + STEP) % COUNT) ++*hot[next];
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the program, its profile, and a plan by the search."""
    folder = tmp_path_factory.mktemp("predict")
    program = compile_c(PROGRAM, folder / "program")
    call("record", "--objects", "-o", str(folder / "profile"), "--", str(program))
    search = ("--strategy", "search", "--option", "drafts=40")
    call("plan", *search, "-o", str(folder / "search.plan"), str(folder / "profile"))
    return folder


def call(*arguments: str) -> Outcome:
    outcome = halo(*arguments)
    assert outcome.status == 0, outcome.stderr
    return outcome


def test_the_search_separates_the_hot_objects(folder: Path) -> None:
    review = json.loads((folder / "search.plan.json").read_text())
    assert review["strategy"] == "search"

    def caller(member: dict[str, list[int]]) -> str:
        found: str = review["frames"][member["stack"][0]]
        return found

    callers = [caller(member) for group in review["groups"] for member in group["contexts"]]
    assert any("make_hot" in frame for frame in callers)
    hot = next(group for group in review["groups"] if "make_hot" in caller(group["contexts"][0]))
    assert len(hot["contexts"]) == 1 and hot["others"]["count"] == 0
    assert "fewer modelled cycles" in hot["reason"]


def test_the_same_profile_gives_the_same_plan(folder: Path, tmp_path: Path) -> None:
    search = ("--strategy", "search", "--option", "drafts=40")
    call("plan", *search, "-o", str(tmp_path / "again.plan"), str(folder / "profile"))
    assert (tmp_path / "again.plan").read_bytes() == (folder / "search.plan").read_bytes()


def test_the_search_shows_its_progress_on_a_terminal_only(folder: Path, tmp_path: Path) -> None:
    search = ("plan", "--strategy", "search", "--option", "drafts=40", "-o", "again.plan")
    profile = str(folder / "profile")
    status, shown = on_terminal(80, *search, profile, cwd=tmp_path)
    assert status == 0, shown
    assert "searching groups" in shown and "/40" in shown
    assert "searching" not in halo(*search, profile, cwd=tmp_path).stderr


def test_plans_are_compared(folder: Path, tmp_path: Path) -> None:
    dense = tmp_path / "dense.plan"
    call("plan", "--strategy", "dense", "-o", str(dense), str(folder / "profile"))
    found = tmp_path / "found.json"
    plans = [str(folder / "search.plan"), str(dense)]
    outcome = call("eval", "predict", "--json", str(found), str(folder / "profile"), *plans)
    assert "search.plan" in outcome.stdout
    document = json.loads(found.read_text())
    without, predicted = document["without"], document["plans"]
    misses = [predicted[plan]["misses"]["L1D"] for plan in plans]
    assert misses[0] < 0.3 * min(misses[1], without["misses"]["L1D"])
    assert predicted[plans[0]]["cycles"] < min(predicted[plans[1]]["cycles"], without["cycles"])
    assert predicted[plans[0]]["accesses"] == without["accesses"] == document["trace"]["kept"]
    objects = document["trace"]["objects"]
    assert 4000 <= objects < 4100, "those of the program, and of its C library"
    assert without["grouped"] == 0
    assert 4000 <= predicted[plans[1]]["grouped"] <= objects


def test_bad_input_is_refused(folder: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.profile"
    call("record", "-o", str(plain), "--", str(folder / "program"))
    plan = str(folder / "search.plan")
    outcome = halo("study", "eval", "predict", str(plain), plan)
    assert outcome.status == 117
    assert "has no object trace; record it with: halo record --objects" in outcome.stderr
    outcome = halo("plan", "--strategy", "search", "-o", str(tmp_path / "p"), str(plain))
    assert outcome.status == 117
    assert not (tmp_path / "p").exists()
    pools = str(tmp_path / "pools.plan")
    call("plan", "--strategy", "random-pools", "-o", pools, str(folder / "profile"))
    outcome = halo("study", "eval", "predict", str(folder / "profile"), pools)
    assert outcome.status == 117
    assert "cannot be predicted" in outcome.stderr
    objects = folder / "profile.objects"
    content = objects.read_bytes()
    objects.write_bytes(content[:8] + b"\xff" + content[9:])
    outcome = halo("study", "eval", "predict", str(folder / "profile"), plan)
    objects.write_bytes(content)
    assert outcome.status == 121
    assert "has version 255" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_a_profile_and_its_trace_move_together(folder: Path, tmp_path: Path) -> None:
    for name in ("profile", "profile.objects"):
        shutil.copy(folder / name, tmp_path)
    (folder / "profile.objects").rename(folder / "away")
    try:
        outcome = halo(
            "study", "eval", "predict", str(folder / "profile"), str(folder / "search.plan")
        )
        assert outcome.status == 121
        assert "No such file" in outcome.stderr and "halo record --objects" in outcome.stderr
        call("eval", "predict", str(tmp_path / "profile"), str(folder / "search.plan"))
    finally:
        (folder / "away").rename(folder / "profile.objects")


def test_the_trace_of_another_run_is_refused(folder: Path, tmp_path: Path) -> None:
    objects = folder / "profile.objects"
    content = objects.read_bytes()
    objects.write_bytes(content + b"more")
    outcome = halo("study", "eval", "predict", str(folder / "profile"), str(folder / "search.plan"))
    objects.write_bytes(content)
    assert outcome.status == 121
    assert "is not the trace that was recorded with the profile" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_a_plan_for_another_program_is_refused(folder: Path, tmp_path: Path) -> None:
    other = compile_c(PROGRAM.replace("ROUNDS = 100", "ROUNDS = 2"), tmp_path / "other")
    call("record", "-o", str(tmp_path / "other.profile"), "--", str(other))
    plan = str(tmp_path / "other.plan")
    call("plan", "--strategy", "per-site", "-o", plan, str(tmp_path / "other.profile"))
    outcome = halo("study", "eval", "predict", str(folder / "profile"), plan)
    assert outcome.status == 116
    assert "is a plan for other programs" in outcome.stderr


def test_a_program_without_objects_has_nothing_to_place(tmp_path: Path) -> None:
    program = compile_c("int main(void) { return 0; }", tmp_path / "program")
    profile, plan = str(tmp_path / "profile"), str(tmp_path / "plan")
    call("record", "--objects", "-o", profile, "--", str(program))
    call("plan", "--strategy", "search", "--option", "drafts=10", "-o", plan, profile)
    outcome = call("eval", "predict", profile, plan)
    assert "accesses are replayed" in outcome.stdout
