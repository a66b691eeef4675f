"""What `halo run`, `probe`, `baseline` and `record` refuse to measure, leave out, or warn of."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from halo.cli.shared.results import results_folder
from halo.measure.runs.standard_input import ignored_input
from support.command import BUILD, compile_c, halo

# Prints what its first argument says, and ends with the status that its second argument says.
ENDS = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "ends: something is missing\nusage: ends WORD [STATUS]\n");
    return 2;
  }
  for (int i = 0; i < 1000; ++i) free(malloc(20 + i % 3));
  puts(argv[1]);
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""
VARIES = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (int i = 0; i < 1000; ++i) free(malloc(20 + i % 3));
  printf("%ld\n", now.tv_nsec);
}
"""
# Dies where a library whose path has one of its arguments in it is preloaded.
PICKY = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  const char *preloaded = getenv("LD_PRELOAD");
  for (int i = 1; preloaded && i < argc; ++i)
    if (strstr(preloaded, argv[i])) abort();
  char *keep[300];
  for (int i = 0; i < 300; ++i) keep[i] = malloc(24);
  for (int i = 0; i < 300; ++i) free(keep[i]);
  puts("well");
}
"""
QUICK = ("--trials", "1", "--results", "results")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for name, source in (("ends", ENDS), ("varies", VARIES), ("picky", PICKY)):
        compile_c(source, folder / name)
    return folder


def summary(folder: Path) -> Any:
    return json.loads((folder / "results" / "summary.json").read_text())


@pytest.mark.parametrize("command", ["run", "baseline", "probe"])
def test_a_program_that_fails_is_not_measured(built: Path, tmp_path: Path, command: str) -> None:
    program = str(built / "ends")
    again = ["--", program] if command == "run" else []
    outcome = halo(command, "--", program, *again, cwd=tmp_path)
    assert outcome.status == 119
    assert outcome.stdout == ""
    last = outcome.stderr.splitlines()[-1]
    assert "ended with status 2 on its first run under glibc, before halo did anything" in last
    assert "ends: something is missing / usage: ends WORD [STATUS]" in last
    assert "--allow-status 2" in last
    assert not any(tmp_path.iterdir()), "the sentence has all that it wrote"


@pytest.mark.parametrize("command", ["run", "baseline", "probe"])
def test_what_a_sentence_cannot_quote_is_kept(built: Path, tmp_path: Path, command: str) -> None:
    program = [str(built / "ends"), "word", "4"]
    again = ["--", *program] if command == "run" else []
    outcome = halo(command, "--", *program, *again, cwd=tmp_path)
    assert outcome.status == 119
    (kept,) = tmp_path.glob("results/ends-*/failed.stdout")
    assert kept.read_text() == "word\n"
    assert f"its output is kept in {kept.parent}." in outcome.stderr.splitlines()[-1]


def test_the_reference_input_is_tried_before_anything_is_recorded(
    built: Path, tmp_path: Path
) -> None:
    program = str(built / "ends")
    train = ("--", program, "word")
    outcome = halo("run", *QUICK, *train, "--", program, "word", "5", cwd=tmp_path)
    assert outcome.status == 119
    assert "ends word 5 ended with status 5" in outcome.stderr.splitlines()[-1]
    assert not (tmp_path / "results" / "train.profile").exists()
    assert summary(tmp_path)["outputs_equal"] is None, "there was nothing to compare"


def test_a_status_can_be_allowed(built: Path, tmp_path: Path) -> None:
    program = str(built / "ends")
    allowed = ("--allow-status", "4", "--allow-status", "3")
    outcome = halo("baseline", *QUICK, *allowed, "--", program, "word", "3", cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    raw = json.loads((tmp_path / "results" / "results.json").read_text())
    assert [t["status"] for t in raw["trials"]["reference"]["mimalloc"]] == [3]


def test_an_output_that_varies_is_not_blamed_on_an_allocator(built: Path, tmp_path: Path) -> None:
    outcome = halo("baseline", *QUICK, "--", str(built / "varies"), cwd=tmp_path)
    assert outcome.status == 119
    last = outcome.stderr.splitlines()[-1]
    assert "differs from run to run under glibc itself" in last
    assert "--ignore-output" in last
    assert "malloc" not in last.replace(str(tmp_path), "")
    assert summary(tmp_path)["outputs_equal"] is False


def test_outputs_can_be_ignored_and_that_is_written_down(built: Path, tmp_path: Path) -> None:
    program = str(built / "varies")
    outcome = halo("baseline", *QUICK, "--ignore-output", "--", program, cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    found = summary(tmp_path)
    assert (found["outputs_equal"], found["outputs_compared"]) == (None, False)
    page = halo("report", "results", cwd=tmp_path)
    assert page.status == 0, page.stderr
    assert (
        "the standard output of the trials was not compared"
        in (tmp_path / "report.html").read_text()
    )


def test_a_wrapper_is_refused_and_names_the_program(built: Path, tmp_path: Path) -> None:
    program = str(BUILD / "bench" / "scene")
    script = tmp_path / "wrap.sh"
    script.write_text(f"{program} 100000 60 1\n")
    for command in (["probe"], ["record"], ["doctor", "--run"]):
        outcome = halo(*command, "--", "/bin/sh", str(script), cwd=tmp_path)
        assert outcome.status == 113, (command, outcome)
        said = outcome.stdout + outcome.stderr
        assert f"sh leaves its work to another program, {program}" in said
        assert f"-- {program} 100000 60 1" in said
    assert not (tmp_path / "sh.profile").exists()
    twice = ["env", "A=1", program, "100000", "60", "1"]
    outcome = halo("run", "--", *twice, "--", *twice, cwd=tmp_path)
    assert outcome.status == 113
    assert f"env only executes another program, {program}" in outcome.stderr
    assert not (tmp_path / "results").exists(), "nothing was run"


def test_a_known_starter_is_refused_before_any_run(tmp_path: Path) -> None:
    for command in (["run", "--", "make", "-s"], ["probe"]):
        outcome = halo(*command, "--", "make", "-s", cwd=tmp_path)
        assert outcome.status == 113
        assert "make leaves the work to programs that it starts" in outcome.stderr
    assert not (tmp_path / "results").exists(), "nothing was run"


def test_a_short_program_that_a_script_executes_is_named_before_measuring(tmp_path: Path) -> None:
    source = "int main(void) { for (volatile long i = 0; i < 3000000; i++) {} return 0; }"
    program = compile_c(source, tmp_path / "prog")
    (tmp_path / "wrap.sh").write_text(f"{program} 7\ntrue\n")
    outcome = halo("probe", "--seconds", "1", "--", "/bin/sh", "wrap.sh", cwd=tmp_path)
    named, measured = (outcome.stderr.find(text) for text in (f"{program} 7", "timing random"))
    assert named >= 0
    assert measured < 0 or named < measured


def test_allocators_that_cannot_run_the_program_are_left_out(built: Path, tmp_path: Path) -> None:
    program = [str(built / "picky"), "mimalloc", "jemalloc"]
    outcome = halo("baseline", *QUICK, "--", *program, cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    found = summary(tmp_path)
    assert set(found["allocators"]) == {"glibc", "tcmalloc"}
    assert set(found["left_out"]) == {"jemalloc", "mimalloc"}
    assert "jemalloc is left out: under it, picky does not do" in " ".join(found["warnings"])
    assert "death by signal 6 instead of exit status 0" in outcome.stdout.replace("\n", " ")


def test_run_goes_on_with_glibc_alone(built: Path, tmp_path: Path) -> None:
    program = [str(built / "picky"), "mimalloc", "jemalloc", "tcmalloc"]
    candidates = ("--candidates", "one-pool")
    outcome = halo("run", *QUICK, *candidates, "--", *program, "--", *program, cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    found = summary(tmp_path)
    assert {name.partition(":")[0] for name in found["allocators"]} == {"glibc"}
    raced = {candidate["allocator"].partition(":")[0] for candidate in found["candidates"]}
    assert raced == {"glibc"}, "with a setting or without"
    assert found["halo"]["median"] > 0


def test_a_finished_measurement_is_not_overwritten(built: Path, tmp_path: Path) -> None:
    program = [str(built / "ends"), "word"]
    assert halo("baseline", *QUICK, "--", *program, cwd=tmp_path).status == 0
    before = (tmp_path / "results" / "results.json").read_bytes()
    again = halo("baseline", *QUICK, "--", *program, cwd=tmp_path)
    assert again.status == 0, again.stderr
    assert "its answer" in again.stderr
    other = halo("run", *QUICK, "--", *program, "--", *program, cwd=tmp_path)
    assert other.status == 117
    assert len(other.stderr.splitlines()) == 1
    assert (tmp_path / "results" / "results.json").read_bytes() == before


def test_measurements_of_one_second_do_not_share_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = {results_folder(None, "prog") for _ in range(5)}
    assert len(folders) == 5
    assert all(folder.is_dir() for folder in folders)


def test_input_that_no_run_sees_is_said(built: Path, tmp_path: Path) -> None:
    program = ("--", str(built / "ends"), "word")
    outcome = halo("baseline", *QUICK, *program, cwd=tmp_path, stdin="1 2 3\n")
    assert outcome.status == 0, outcome.stderr
    assert "standard input is not passed on: every run gets an empty one" in outcome.stderr
    assert any("standard input" in warning for warning in summary(tmp_path)["warnings"])
    (tmp_path / "in").write_text("1 2 3\n")
    given = ("--trials", "1", "--stdin", "in")
    quiet = halo("baseline", *given, *program, cwd=tmp_path, stdin="1 2 3\n")
    assert "not passed on" not in quiet.stderr


def test_a_program_that_fails_without_its_input_is_told_how_to_give_it(tmp_path: Path) -> None:
    compile_c("#include <stdio.h>\nint main(void) { return getchar() < 0; }", tmp_path / "reads")
    outcome = halo("baseline", *QUICK, "--", "./reads", cwd=tmp_path, stdin="1 2 3\n")
    assert outcome.status == 119
    assert "standard input was empty" in outcome.stderr and "--stdin FILE" in outcome.stderr


def test_only_an_input_with_something_in_it_counts(tmp_path: Path) -> None:
    (tmp_path / "full").write_text("x")
    (tmp_path / "empty").write_text("")
    for name, expected in (("full", True), ("empty", False), ("/dev/null", False)):
        with (tmp_path / name).open() as stream:
            assert ignored_input(stream.fileno()) is expected
    reading, writing = os.pipe()
    try:
        assert ignored_input(reading) is False
        os.write(writing, b"x")
        assert ignored_input(reading) is True
    finally:
        os.close(reading)
        os.close(writing)
    assert ignored_input(reading) is False, "closed"


def test_a_run_of_milliseconds_is_said_to_be_too_short(built: Path, tmp_path: Path) -> None:
    outcome = halo("baseline", *QUICK, "--", str(built / "ends"), "word", cwd=tmp_path)
    assert "ms, too short to measure" in outcome.stderr
    assert any("too short to measure" in warning for warning in summary(tmp_path)["warnings"])


@pytest.mark.parametrize(
    "command",
    [
        *(["run"], ["probe"], ["baseline"], ["record"], ["simulate"], ["detect"], ["litter"]),
        *(["age"], ["exec", "--plan", "any.plan"]),
    ],
    ids=lambda command: command[0],
)
def test_a_sanitized_program_is_refused(tmp_path: Path, command: list[str]) -> None:
    compile_c("int main(void) { return 0; }", tmp_path / "prog", "-fsanitize=address")
    again = ["--", "./prog"] if command == ["run"] else []
    outcome = halo(*command, "--", "./prog", *again, cwd=tmp_path)
    assert outcome.status == 113
    assert "libasan.so" in outcome.stderr and "-fsanitize" in outcome.stderr


DEEP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  free(malloc(10));
  if (argc > 1) dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
  return 0;
}
"""


def test_deep_binding_is_a_line_of_every_command_on_the_way_to_a_plan(tmp_path: Path) -> None:
    compile_c(DEEP, tmp_path / "deep")
    recorded = halo("record", "--", "./deep", cwd=tmp_path)
    planned = halo("plan", "deep.profile", "--strategy", "one-pool", cwd=tmp_path)
    executed = halo("exec", "--plan", "deep.plan", "--", "./deep", cwd=tmp_path)
    for outcome in (recorded, planned, executed):
        assert outcome.status == 0, outcome.stderr
        line, *others = outcome.stderr.splitlines()
        assert bool(others) == (outcome is recorded), "which names its file"
        assert line.startswith("halo: warning: deep opens libraries with RTLD_DEEPBIND")
        assert "halo doctor --run --plan PLAN -- deep ARGS" in line
    probed = halo("probe", "--seconds", "1", "--", "./deep", cwd=tmp_path)
    assert "deep opens libraries with RTLD_DEEPBIND" in probed.stderr
