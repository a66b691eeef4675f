"""What the runtime shows when asked: statistics at exit and at a signal, misuse by its name."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from support.planned import CHECKING_RUNTIME, RUNTIME, compile_program, make_plan, run_planned

# Sites a, b and c, the last, and with "apart" a site d, through a wrapper; what happens then is up
# to the argument.
PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void* site_a(void) { char* p = malloc(24); p[0] = 1; return p; }
static void* site_b(void) { char* p = malloc(100); p[0] = 1; return p; }
static void* wrapped(size_t n) { char* p = malloc(n); p[0] = 1; return p; }
static void* site_c(void) { char* p = wrapped(40); p[1] = 1; return p; }
static void* site_d(void) { char* p = wrapped(40); p[2] = 1; return p; }
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  void *a[1000], *b = NULL, *c = NULL;
  if (argc > 1 && strcmp(what, "apart") == 0) for (int i = 0; i < 40; ++i) free(site_d());
  for (int i = 0; i < 300; ++i) { b = site_b(); c = site_c(); }
  for (int i = 0; i < 1000; ++i) a[i] = site_a();
  for (int i = 500; i < 1000; ++i) free(a[i]);
  if (strcmp(what, "twice") == 0) free(a[700]);
  if (strcmp(what, "inside") == 0) free((char*)b + 32);
  if (strcmp(what, "signal") == 0) raise(SIGUSR1);
  if (strcmp(what, "again") == 0) for (int i = 500; i < 1000; ++i) a[i] = site_a();
  free(c);
  puts("done");
  fflush(stdout);
  if (strcmp(what, "signal") == 0) raise(SIGKILL);
  return 0;
}
"""


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("insight")
    program = compile_program(folder, PROGRAM)
    return program, make_plan(folder, [str(program)])


def run(
    planned: tuple[Path, Path], what: str, stats: str, **more: str
) -> subprocess.CompletedProcess[str]:
    program, plan = planned
    environment = {"LD_PRELOAD": str(RUNTIME), "HALO_PLAN": str(plan), "HALO_STATS": stats, **more}
    command = [str(program), what]
    return subprocess.run(
        command,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_human_readable_table_is_on_stderr(planned: tuple[Path, Path]) -> None:
    done = run(planned, "", "1")
    assert done.stdout == "done\n"
    rows = re.findall(r"^halo: +\d+ +(\d+) +(\d+) +\d+ +\d+ +-?\d+ +\d+ +\d+$", done.stderr, re.M)
    assert ("1000", "12000") in rows
    assert ("300", str(300 * 104)) in rows
    assert re.search(r"^halo: no allocation needed a walk$", done.stderr, re.M)


def test_groups_account_for_their_memory(planned: tuple[Path, Path]) -> None:
    program, plan = planned
    done = run_planned([str(program)], plan)
    group = next(g for g in done.stats["groups"] if g["allocations"] == 1000)
    assert group["live_bytes"] == 500 * 24
    assert group["peak_bytes"] >= 500 * 24
    assert 500 * 24 <= group["resident_bytes"] <= 1000 * 24 + 8192
    assert group["peak_resident_bytes"] >= group["resident_bytes"]
    assert (group["pages"], group["refused"]) == (1, 0)
    assert done.stats["resident_bytes"] >= sum(g["live_bytes"] for g in done.stats["groups"])


def test_walks_are_counted_by_their_length(planned: tuple[Path, Path], tmp_path: Path) -> None:
    """Groups that differ in the frame beyond the wrapper only: one step each."""
    program, _ = planned
    plan = make_plan(tmp_path, [str(program), "apart"], "random", "--option", "groups=8")
    counted = run_planned([str(program), "apart"], plan).stats
    assert counted["active"]
    steps = counted["walks_by_steps"]
    assert len(steps) == 32
    assert counted["walk_misses"] <= sum(steps)
    table = run((program, plan), "apart", "1").stderr
    found = re.search(r"^halo: walks by [a-z ]+: (.+); to no group: (\d+)$", table, re.M)
    assert found is not None and int(found[2]) == counted["walk_misses"]
    assert sum(int(number) for number in re.findall(r"\d+: (\d+)", found[1])) == sum(steps) > 0


def test_a_fifo_without_a_reader_is_left_alone(planned: tuple[Path, Path], tmp_path: Path) -> None:
    fifo = tmp_path / "stats"
    os.mkfifo(fifo)
    done = run(planned, "", str(fifo))
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_a_fifo_that_is_read_gets_the_statistics(
    planned: tuple[Path, Path], tmp_path: Path
) -> None:
    fifo = tmp_path / "stats"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    run(planned, "", str(fifo))
    text = os.read(reader, 1 << 16)
    os.close(reader)
    assert json.loads(text)["active"]


def test_memory_is_the_same_where_allocations_are_not_counted(planned: tuple[Path, Path]) -> None:
    program, plan = planned
    counted = run_planned([str(program)], plan).stats
    quick = run_planned([str(program)], plan, env={"HALO_STATS_COUNTS": "0"}).stats
    assert not {"walks_by_steps", "walk_misses"} & quick.keys()
    for group in counted["groups"]:
        del group["allocations"]
    assert quick["groups"] == counted["groups"]
    table = run(planned, "", "1", HALO_STATS_COUNTS="0").stderr
    assert re.search(r"^halo: +\d+ +- +12000 ", table, re.M), "not counted, and not said to be 0"
    assert "walks by" not in table


def test_a_signal_shows_the_groups_of_a_running_program(
    planned: tuple[Path, Path], tmp_path: Path
) -> None:
    place = tmp_path / "stats.json"
    done = run(planned, "signal", str(place), HALO_STATS_SIGNAL="10")
    assert (done.returncode, done.stdout) == (-9, "done\n")
    groups = json.loads(place.read_text())["groups"]
    assert {1000, 300} <= {group["allocations"] for group in groups}


def test_a_signal_that_the_program_handles_stays_its_own(
    planned: tuple[Path, Path], tmp_path: Path
) -> None:
    place = tmp_path / "stats.json"
    done = run(planned, "signal", str(place))
    assert done.returncode == -10
    assert not place.exists()


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("twice", r"^halo: double free: the block of 24 bytes at 0x[0-9a-f]+ in group \d+"),
        ("inside", r"^halo: wrong free: 0x[0-9a-f]+ lies 32 bytes inside a block of 104 bytes"),
    ],
)
def test_the_checking_build_names_what_is_freed_wrongly(
    planned: tuple[Path, Path], what: str, pattern: str
) -> None:
    program, plan = planned
    done = run_planned([str(program), what], plan, CHECKING_RUNTIME)
    assert (done.status, done.stdout) == (0, "done\n")
    assert len(re.findall(pattern, done.stderr, re.M)) == 1
    assert sum(done.allocations) >= 1300


def test_the_checking_build_is_silent_where_all_is_well(planned: tuple[Path, Path]) -> None:
    program, plan = planned
    done = run_planned([str(program), "again"], plan, CHECKING_RUNTIME)
    assert (done.status, done.stderr) == (0, "")
    assert 1500 in done.allocations
