"""How many processors other programs keep busy."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from halo.measure.runs import processor_load
from halo.measure.runs.processor_load import LoadMeter

TICKS = os.sysconf("SC_CLK_TCK")
Advance = Callable[[float, str], None]


@pytest.fixture
def advance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Advance:
    """Lets seconds pass, after which /proc/stat has the given lines; only 0 and 1 are allowed."""
    now = 100.0
    stat = tmp_path / "stat"
    monkeypatch.setattr(processor_load, "STAT", stat)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(time, "monotonic", lambda: now)

    def after(seconds: float, lines: str) -> None:
        nonlocal now
        now += seconds
        stat.write_text(lines)

    return after


def processor(number: int, *seconds: float) -> str:
    """A line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, guests' two."""
    return f"cpu{number} " + " ".join(str(round(each * TICKS)) for each in seconds) + "\n"


def test_the_work_of_others_is_what_is_not_the_own(advance: Advance) -> None:
    advance(0, processor(0, *[0] * 10) + processor(1, *[0] * 10))
    meter = LoadMeter.start()
    advance(10, processor(0, 6, *[0] * 9) + processor(1, 0, 1, 2, 0, 0, 0.5, 0.5, 0, 0, 0))
    assert meter.others(5.0) == pytest.approx(0.5)
    assert meter.others(0.0) == pytest.approx(1.0)


def test_what_was_done_before_the_start_does_not_count(advance: Advance) -> None:
    advance(0, processor(0, 1000, *[0] * 9))
    meter = LoadMeter.start()
    advance(10, processor(0, 1004, *[0] * 9))
    assert meter.others(4.0) == 0.0


def test_idle_time_and_that_of_guests_do_not_count_but_stolen_time_does(advance: Advance) -> None:
    advance(0, processor(0, *[0] * 10))
    meter = LoadMeter.start()
    advance(10, processor(0, 3, 0, 0, 4, 1, 0, 0, 2, 3, 0))
    assert meter.others(0.0) == pytest.approx(0.5)


def test_only_the_allowed_processors_count(advance: Advance) -> None:
    advance(0, "cpu  0 0 0 0 0 0 0 0 0 0\n" + processor(10, *[0] * 10))
    meter = LoadMeter.start()
    advance(10, "cpu  900 0 0 0 0 0 0 0 0 0\n" + processor(10, 9, *[0] * 9) + "ctxt 5\n\n")
    assert meter.others(0.0) == 0.0


def test_nothing_is_known_without_proc_or_if_the_own_work_was_done_before(
    advance: Advance, tmp_path: Path
) -> None:
    advance(0, processor(0, *[0] * 10))
    meter = LoadMeter.start()
    advance(1, processor(0, 0.5, *[0] * 9))
    assert meter.others(20.0) == 0.0
    (tmp_path / "stat").unlink()
    assert LoadMeter.start().others(0.0) == 0.0
    assert meter.others(0.0) == 0.0


def test_a_busy_program_is_seen() -> None:
    before = LoadMeter.start()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        time.sleep(1)
        used = before.others(0.0)
        busy.kill()
    assert used > 0.5
