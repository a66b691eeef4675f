"""`halo run` of programs that an engine, or none, can record; and of those that fail later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.command import compile_c, halo

# Work on objects, so that a run takes some milliseconds.
WORK = """
static long work(void) {
  static void *blocks[1000];
  long sum = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 1000; ++i) blocks[i] = malloc(24);
    for (int i = 0; i < 1000; ++i) sum += ++*(volatile int *)blocks[i] != 0;
    for (int i = 0; i < 1000; ++i) free(blocks[i]);
  }
  return sum;
}
"""
HEADERS = """
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""
ROUNDS = f"""
{HEADERS}
{WORK}
int main(void) {{
  volatile double one = 1, tiny = 1e-30;
  work();
  fesetround(FE_UPWARD);
  if (one + tiny == one) abort();
  puts("done");
  return 0;
}}
"""
# Refuses to run if a library of that name is preloaded; with an argument, only then.
REFUSES = f"""
{HEADERS}
{WORK}
int main(int count, char **words) {{
  const char *preloaded = getenv("LD_PRELOAD");
  if (preloaded && strstr(preloaded, LIBRARY) && (count == 1 || words[1][0] == 'r')) {{
    fputs("strange library\\n", stderr);
    return 9;
  }}
  work();
  puts("done");
  return 0;
}}
"""


def summary_of(folder: Path) -> Any:
    return json.loads((folder / "results.json").read_text())["summary"]


def test_another_engine_records_what_the_first_cannot(tmp_path: Path) -> None:
    compile_c(ROUNDS, tmp_path / "rounds", "-O1", "-frounding-math", "-lm")
    words = ("run", "--trials", "1", "--candidates", "dense", "--results", "out")
    command = ("--", "./rounds", "--", "./rounds")
    outcome = halo(*words, *command, cwd=tmp_path, env={"HALO_ENGINE": "valgrind"})
    assert outcome.status == 0, outcome.stderr
    said = " ".join(outcome.stderr.split())
    assert "./rounds cannot be recorded with valgrind: it died by signal 6 instead of" in said
    assert "; it sets another rounding mode" in said
    assert "recorded with native" in outcome.stdout and "rounding mode" in outcome.stdout
    summary = summary_of(tmp_path / "out")
    assert summary["record"]["engine"] == "native" and not summary["unrecorded"]
    assert any(one["strategy"] == "dense" for one in summary["candidates"])
    page = halo("report", "out", "-o", "page.html", cwd=tmp_path)
    assert page.status == 0, page.stderr
    assert "<th>recording engine</th><td>native" in (tmp_path / "page.html").read_text()


def test_a_program_that_no_engine_records_gets_an_answer(tmp_path: Path) -> None:
    compile_c(REFUSES, tmp_path / "prog", '-DLIBRARY="guest"')
    words = ("run", "--trials", "1", "--results", "out", "--", "./prog", "--", "./prog")
    outcome = halo(*words, cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    said = " ".join(outcome.stderr.split())
    assert "with native: it ended with status 9 instead of status 0 (strange library)." in said
    assert "Nothing was recorded, so only plans that need no recording were tried" in said
    assert "nothing was recorded" in outcome.stdout and "Results: " in outcome.stdout
    summary = summary_of(tmp_path / "out")
    assert summary["unrecorded"] and summary["record"] is None
    assert {one["strategy"] for one in summary["candidates"]} == {"none", "everything"}
    review = json.loads((tmp_path / "out" / "everything.plan.json").read_text())
    assert "16 bytes: nothing was recorded" in json.dumps(review)
    page = halo("report", "out", "-o", "page.html", cwd=tmp_path)
    assert page.status == 0, page.stderr
    assert "no engine can" in (tmp_path / "page.html").read_text()


def test_a_training_input_that_cannot_be_recorded_is_left_out(tmp_path: Path) -> None:
    compile_c(REFUSES, tmp_path / "prog", '-DLIBRARY="guest"')
    words = ("run", "--trials", "1", "--candidates", "dense", "--results", "out")
    outcome = halo(*words, "--train", "r", "--", "./prog", "a", "--", "./prog", "b", cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    assert "Recorded input 2 could not be recorded" in " ".join(outcome.stderr.split())
    summary = summary_of(tmp_path / "out")
    assert summary["record"]["engine"] == "native" and not summary["unrecorded"]
    assert any(one["strategy"] == "dense" for one in summary["candidates"])


def test_what_was_found_before_a_failure_is_printed(tmp_path: Path) -> None:
    """Here, the program refuses the runtime."""
    compile_c(REFUSES, tmp_path / "prog", '-DLIBRARY="libhalo.so"')
    words = ("run", "--candidates", "dense", "--results", "out", "--", "./prog", "--", "./prog")
    outcome = halo(*words, cwd=tmp_path)
    assert outcome.status == 119
    lines = outcome.stdout.splitlines()
    assert any("prog: seconds of the first rounds" in line for line in lines)
    rows = [line.split()[0] for line in lines if " ± 0" in line]
    assert rows == ["glibc", "jemalloc", "mimalloc", "tcmalloc"]
    shown = " ".join(outcome.stdout.split())
    assert "as the measurement ended early;" in shown
    assert "recorded with native" in shown
    assert lines[-1].startswith("Next: ") and lines[-1].endswith("./prog")
    assert summary_of(tmp_path / "out")["verdict"]["answer"] == "cannot-be-told"
