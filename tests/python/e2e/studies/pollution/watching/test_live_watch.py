"""The watch of running programs: what it finds, and that programs do not notice it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from halo.plan.model import Spans
from support.command import halo
from support.planned import compile_program
from support.polluter import POLLUTER
from support.spans import plan_of_large, record_large
from support.watched import CACHE, run_watched

DENSE = 1024  # all lines of a page, in sixteenths

# Threads write, read and free large objects, also by system calls; processes are forked meanwhile.
BUSY = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum { BYTES = 300000, ROUNDS = 60 };
static int is_all(const char *p, char value) {
  for (int at = 0; at < BYTES; ++at) if (p[at] != value) return 0;
  return 1;
}
static void *work(void *argument) {
  char mark = (char)(size_t)argument;
  int ends[2];
  if (pipe(ends)) abort();
  char *kept = malloc(BYTES);
  memset(kept, mark, BYTES);
  for (int round = 0; round < ROUNDS; ++round) {
    char *other = malloc(BYTES);
    for (int at = 0; at < BYTES; at += 30000) {
      if (write(ends[1], kept + at, 30000) != 30000) abort();
      if (read(ends[0], other + at, 30000) != 30000) abort();
    }
    if (!is_all(other, mark)) abort();
    if (round % 10 == 0) {
      pid_t child = fork();
      if (child == 0) {
        int right = is_all(kept, mark) && is_all(other, mark);
        free(kept);
        free(other);
        _exit(right ? 0 : 1);
      }
      int status;
      if (waitpid(child, &status, 0) != child || status != 0) abort();
    }
    other = realloc(other, 2 * BYTES);
    if (!is_all(other, mark)) abort();
    free(kept);
    kept = other;
  }
  free(kept);
  close(ends[0]);
  close(ends[1]);
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (size_t i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, (void *)(i + 1));
  for (size_t i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  if (setgid(getgid()) || setuid(getuid())) abort();  // every thread takes part
  puts("intact");
}
"""


def test_polluters_are_found_and_confined_without_counters(tmp_path: Path) -> None:
    program = str(compile_program(tmp_path, POLLUTER))
    profile = record_large([program, "1"], tmp_path / "a.profile")
    plan = tmp_path / "a.plan"
    functions = plan_of_large(profile, Spans(1 << 18, density=DENSE), plan, apart=True)
    plain = subprocess.run([program, "2000"], capture_output=True, text=True).stdout
    watched = run_watched([program, "2000"], plan, HALO_WATCH_SHARE="0.3")
    assert (watched.status, watched.stdout) == (0, plain)
    groups = dict(zip(functions, watched.report["groups"], strict=True))
    polluter, hot = groups["make_polluter"], groups["make_hot"]
    assert polluter["misses"] > 100
    assert polluter["misses"] >= 0.9 * (polluter["hits"] + polluter["misses"])
    assert hot["misses"] <= 0.1 * hot["hits"]
    assert (polluter["confined"], hot["confined"]) == (True, False)


@pytest.mark.parametrize(
    ("spans", "variables"),
    [
        (Spans(), {}),
        (Spans(1 << 18, confined=True), {"HALO_WATCH_COLOURS": "0-31/256"}),
    ],
    ids=["open", "coloured"],
)
def test_programs_do_not_notice_that_all_their_pages_are_trapped(
    spans: Spans, variables: dict[str, str], tmp_path: Path
) -> None:
    program = str(compile_program(tmp_path, BUSY, "-pthread"))
    profile = record_large([program], tmp_path / "a.profile")
    plan_of_large(profile, spans, tmp_path / "a.plan")
    watched = run_watched([program], tmp_path / "a.plan", HALO_WATCH_STRESS="1", **variables)
    assert (watched.status, watched.stdout) == (0, "intact\n")
    assert not variables or watched.report["colours"]["filled"] > 0
    assert watched.report["announced"] > 100


WITHOUT_MAIN = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static char *make_large(void) { return memset(malloc(300000), 1, 300000); }
static void *work(void *large) {
  const struct timespec later = {0, 200000000};
  nanosleep(&later, 0);
  free(large);
  free(make_large());
  puts("last");
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, make_large());
  pthread_detach(thread);
  pthread_exit(0);
}
"""


@pytest.mark.parametrize("variables", [{}, {"HALO_WATCH_STRESS": "1"}], ids=["open", "stress"])
def test_a_process_without_its_main_thread_ends_with_its_last_one(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    program = str(compile_program(tmp_path, WITHOUT_MAIN, "-pthread"))
    profile = record_large([program], tmp_path / "a.profile")
    plan_of_large(profile, Spans(), tmp_path / "a.plan")
    watched = run_watched([program], tmp_path / "a.plan", **variables)
    assert (watched.status, watched.stdout) == (0, "last\n")
    assert watched.report["refusal"] == ""


def test_the_watch_stays_within_its_share(tmp_path: Path) -> None:
    """A share of 1 % of a short run is less than a window needs, so nothing is trapped."""
    program = str(compile_program(tmp_path, POLLUTER))
    profile = record_large([program, "1"], tmp_path / "a.profile")
    plan_of_large(profile, Spans(1 << 18), tmp_path / "a.plan")
    watched = run_watched([program, "5"], tmp_path / "a.plan", HALO_WATCH_SHARE="0.01")
    assert watched.status == 0
    report = watched.report
    assert (report["windows"], report["spent_us"], report["announced"]) == (0, 0, 5)


@pytest.mark.parametrize("share", ["0", "51", "x"])
def test_a_share_that_is_none_is_refused(share: str) -> None:
    done = halo("exec", "--watch", "--watch-share", share, "--plan", "p", "--", "true")
    assert done.status == 111
    assert "not a share between 0 and 50 per cent" in done.stderr


def test_a_plan_without_spans_has_nothing_to_watch(tmp_path: Path) -> None:
    program = str(compile_program(tmp_path, POLLUTER))
    profile = tmp_path / "a.profile"
    recorded = halo("record", "--exact", "-o", str(profile), "--", program, "1")
    assert recorded.status == 0
    plan = tmp_path / "a.plan"
    assert halo("plan", str(profile), "--strategy", "per-site", "-o", str(plan)).status == 0
    done = halo("exec", "--watch", "--plan", str(plan), "--", program, "1")
    assert done.status == 111
    assert "has no group with spans" in done.stderr


def test_exec_watches(tmp_path: Path) -> None:
    program = str(compile_program(tmp_path, BUSY, "-pthread"))
    profile = record_large([program], tmp_path / "a.profile")
    plan_of_large(profile, Spans(), tmp_path / "a.plan")
    report = tmp_path / "report.json"
    options = ("--watch", "--watch-report", str(report), "--watch-cache", str(CACHE))
    done = halo("exec", "--plan", str(tmp_path / "a.plan"), *options, "--", program)
    assert (done.status, done.stdout) == (0, "intact\n")
    assert json.loads(report.read_text())["refusal"] == ""
