"""Groups that are confined to page frames of some colours, and the audit of it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from halo.plan.model import Spans
from support.command import REPOSITORY, halo
from support.planned import compile_program
from support.polluter import POLLUTER
from support.spans import plan_of_large, record_large

HALO = str(REPOSITORY / "bin" / "halo")
COLOURS = "0-31/256"
CACHE = 2 << 20
RING = 1 << 18
NO_FRAMES = "there were no more page frames of these colours"

# Writes objects of 1 MiB, replaces them for each line of its input, and checks their content, in a
# child, too.
REPLACER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum { BYTES = 1 << 20, COUNT = 6 };
static char *make(char mark) { return memset(malloc(BYTES), mark, BYTES); }
static char *live[COUNT];
static int is_right(void) {
  for (int i = 0; i < COUNT; ++i)
    for (int at = 0; at < BYTES; ++at)
      if (live[i][at] != (char)(i + 1)) return 0;
  return 1;
}
int main(void) {
  char line[64];
  for (int i = 0; i < COUNT; ++i) live[i] = make((char)(i + 1));
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (!is_right()) abort();
    for (int i = 0; i < COUNT; ++i) {
      free(live[i]);
      live[i] = make((char)(i + 1));
    }
    pid_t child = fork();
    if (child == 0) _exit(is_right() ? 0 : 1);
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) abort();
    puts("done");
    fflush(stdout);
  }
  puts(is_right() ? "intact" : "damaged");
  return 0;
}
"""


@dataclass(frozen=True)
class Planned:
    program: str
    plan: Path


@pytest.fixture(scope="module")
def replacer(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    folder = tmp_path_factory.mktemp("replacer")
    program = str(compile_program(folder, REPLACER))
    profile = record_large([program], folder / "a.profile")
    plan_of_large(profile, Spans(RING, confined=True), folder / "a.plan")
    return Planned(program, folder / "a.plan")


@contextmanager
def running(planned: Planned, report: Path, *options: str, prefix: tuple[str, ...] = ()) -> Any:
    command = [*prefix, HALO, "exec", "--plan", str(planned.plan), "--watch", "--watch-report"]
    process = subprocess.Popen(
        [*command, str(report), *options, "--", planned.program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdin is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.stdin.close()
        assert process.stdout.read() == "intact\n"
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def replace_objects(process: Any, times: int = 4) -> None:
    for _ in range(times):
        time.sleep(0.2)  # ticks of the watch
        process.stdin.write("again\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"


def wait_for_audit(process: Any) -> str:
    """The kernel may move pages to other frames, which the watch corrects within a minute or so."""
    deadline = time.monotonic() + 120
    audited = halo("study", "colours", "--audit", str(process.pid))
    while audited.status != 0 and time.monotonic() < deadline:
        time.sleep(2)
        audited = halo("study", "colours", "--audit", str(process.pid))
    assert audited.status == 0, audited.stdout + audited.stderr
    return audited.stdout


def mappings(process: Any) -> int:
    return len(Path(f"/proc/{process.pid}/maps").read_text().splitlines())


def test_confined_objects_have_frames_of_the_colours(replacer: Planned, tmp_path: Path) -> None:
    report = tmp_path / "a.json"
    with running(replacer, report) as process:
        replace_objects(process)
        others = mappings(process)
    with running(replacer, report, "--colours", COLOURS) as process:
        replace_objects(process)
        audited = wait_for_audit(process)
        assert int(audited.split()[2]) >= 6 * 256
        assert f"have colours {COLOURS};" in audited
        assert mappings(process) <= others + 64
    colours = json.loads(report.read_text())["colours"]
    assert colours["refusal"] == ""
    assert colours["filled"] >= 6 * 256


def test_objects_stay_open_if_there_are_no_frames(replacer: Planned, tmp_path: Path) -> None:
    """One of 4096 colours is one page in 16 MiB."""
    report = tmp_path / "a.json"
    for seconds in (0, 2, 8, 30):  # the search takes longer on a busy machine
        with running(replacer, report, "--colours", "7-8/4096") as process:
            replace_objects(process)
            audited = halo("study", "colours", "--audit", str(process.pid))
            # 1: the kernel moved a page, and there is no frame to correct that.
            assert audited.status in (0, 1) and "have colours 7-8/4096;" in audited.stdout
            time.sleep(seconds)
        colours = json.loads(report.read_text())["colours"]
        if colours["refusal"]:
            break
    assert colours["refusal"] == NO_FRAMES
    assert colours["filled"] < 256 < colours["failed"], "not one object"


def test_hidden_frames_leave_the_rings_as_they_are(replacer: Planned, tmp_path: Path) -> None:
    report = tmp_path / "a.json"
    without = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
    with running(replacer, report, "--colours", COLOURS, prefix=without) as process:
        replace_objects(process, 1)
        audited = halo("study", "colours", "--audit", str(process.pid))
        assert audited.status == 117
        assert "has no memory that is confined by colours" in audited.stderr
    found = json.loads(report.read_text())
    assert found["colours"]["refusal"] == "the kernel hides page frames; they need CAP_SYS_ADMIN"
    assert found["refusal"] == ""


def test_objects_that_turn_out_to_pollute_get_frames_where_they_are(tmp_path: Path) -> None:
    program = str(compile_program(tmp_path, POLLUTER))
    profile = record_large([program, "1"], tmp_path / "a.profile")
    plan = tmp_path / "a.plan"
    plan_of_large(profile, Spans(RING, density=1024), plan, apart=True)
    plain = subprocess.run([program, "2500"], capture_output=True, text=True).stdout
    report = tmp_path / "a.json"
    options = ("--watch-report", str(report), "--watch-share", "30", "--watch-cache", str(CACHE))
    done = halo(
        *("exec", "--watch", "--colours", COLOURS, "--plan", str(plan), *options),
        *("--", program, "2500"),
    )
    assert (done.status, done.stdout) == (0, plain)
    colours = json.loads(report.read_text())["colours"]
    assert colours["refusal"] in ("", NO_FRAMES)  # which frames are free depends on the machine
    assert colours["switched"] >= (3 if colours["refusal"] else 4)
    assert colours["replaced"] > 1500


@pytest.fixture
def sleeper() -> Iterator[int]:
    process = subprocess.Popen(["sleep", "60"])
    yield process.pid
    process.kill()
    process.wait()


def test_the_audit_refuses_other_processes(sleeper: int) -> None:
    done = halo("study", "colours", "--audit", str(sleeper))
    assert done.status == 117
    assert "start it with: halo exec --watch --colours" in done.stderr
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert halo("study", "colours", "--audit", str(ended.pid)).status == 117
    assert halo("study", "colours", "--audit", str(os.getpid()), "--json", "x").status == 111


@pytest.mark.parametrize(
    ("colours", "sentence"),
    [
        ("6-4/8", "the range of colours is empty"),
        ("5-4/8", "the range of colours is empty"),
        ("0-8/8", "there are only 8 colours"),
        ("0-3/12", "not a power of two"),
        ("0-1/0", "not a power of two"),
        ("0-1/8192", "not a power of two up to 4096"),
        ("32", "not a range of colours, such as 0-31/256"),
        ("-1-2/8", "not a range of colours"),
    ],
)
def test_ranges_that_are_none_are_refused(colours: str, sentence: str) -> None:
    done = halo("exec", "--watch", f"--colours={colours}", "--plan", "p", "--", "true")
    assert done.status == 111
    assert sentence in done.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [("colours", COLOURS), ("watch-share", "3"), ("watch-cache", "4096"), ("watch-report", "x")],
)
def test_options_of_the_watch_need_it(option: str, value: str) -> None:
    done = halo("exec", f"--{option}", value, "--plan", "p", "--", "true")
    assert done.status == 111
    assert f"`halo exec --{option}` needs --watch." in done.stderr
