"""Event counters: those that the kernel has everywhere, and none where there are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from halo.measure.runs import counters
from halo.measure.runs.counters import Reading, counted
from halo.measure.runs.launcher import Launcher, Streams
from support.command import compile_c

PAGES = """
#include <stdlib.h>
int main(int argc, char **argv) {
  long pages = argc > 1 ? atol(argv[1]) : 0;
  volatile char *memory = malloc(pages * 4096 + 1);
  for (long at = 0; at < pages; ++at) memory[at * 4096] = 1;
  return 0;
}
"""


def faults(launcher: Launcher, program: Path, pages: int) -> int:
    null = Path(os.devnull)
    run = launcher.run(program, [str(program), str(pages)], {}, Streams(null, null, null))
    return run.counters["page-faults"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(PAGES, tmp_path_factory.mktemp("pages") / "pages")


def test_the_faults_of_each_run_alone_are_counted(program: Path) -> None:
    with Launcher() as launcher:
        if "page-faults" not in launcher._counters.read():
            pytest.skip("this kernel permits no counters")
        faults(launcher, program, 0)  # the first one maps files for the first time
        few = faults(launcher, program, 0)
        assert faults(launcher, program, 3000) == pytest.approx(few + 3000, abs=300)
        assert faults(launcher, program, 0) == pytest.approx(few, abs=300)


def test_a_machine_without_counters_is_measured_without(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters, "EVENTS", {"nothing": (99, 0)})
    null = Path(os.devnull)
    with Launcher() as launcher:
        run = launcher.run(program, [str(program)], {}, Streams(null, null, null))
    assert run.counters == {}
    assert run.ending.exit_status == 0


def test_a_counter_that_had_half_of_the_time_is_scaled_up() -> None:
    before = {"a": Reading(100, 1000, 1000), "b": Reading(0, 1000, 0)}
    after = {"a": Reading(150, 3000, 2000), "b": Reading(0, 3000, 0)}
    assert counted(before, after) == {"a": 100}


def test_files_are_closed() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with Launcher():
            pass
    assert len(os.listdir("/proc/self/fd")) == before
