"""Which processor time a trial has, if its process does more than what is timed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from halo.base.schema.trial import Runtime
from halo.base.settings import read_settings
from halo.binary.process.foreground import Ending
from halo.binary.process.target import Target
from halo.measure.aging import Litter, LitterLog
from halo.measure.racing.clock import deciding_clock, processor, wall
from halo.measure.runs.job import Configuration, Job, Output
from halo.measure.runs.launcher import Run
from halo.measure.runs.trial_runner import TrialRunner
from halo.measure.services.service import Load, Service


def test_littering_does_not_make_processor_time_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program waits, and the littering before it computes for three seconds."""
    nothing: Any = None
    runner = TrialRunner(read_settings(), nothing, tmp_path, tmp_path)
    run = Run(1, Ending(0, 0), 4.0, 3.2, 0.0, 1000, 0, main_processor=3.2, delayed=0.0)
    log = LitterLog(3.0, 3.0, 0.0, 0.0, 1.0, {})
    for stream in ("stdout", "stderr"):
        (tmp_path / stream).touch()
    output = Output(0, 0, 0, "", ())
    monkeypatch.setattr(runner, "_run", lambda job, config: (run, output))
    monkeypatch.setattr(runner._aging, "log", lambda name, pid: log)
    job = Job(Target(Path("/bin/true"), "true"), ())
    trial = runner.measure(job, Configuration("glibc", {}, litter=Litter(0.4)))
    assert (trial.wall, trial.main_processor, trial.delayed) == (1.0, 0.0, 0.0)
    assert deciding_clock([trial]) is wall


def test_the_report_of_a_service_is_not_in_the_time_of_its_load(tmp_path: Path) -> None:
    """It is requested after the load, so it must not be subtracted."""
    nothing: Any = None
    runner = TrialRunner(read_settings(), nothing, tmp_path, tmp_path)
    run = Run(1, Ending(0, 0), 2.0, 1.0, 0.5, 1000, 0, main_processor=0.0, delayed=0.0)
    service = Service(Load(Path("/bin/true"), ("true",)))
    job = Job(Target(Path("/bin/true"), "true"), (), service=service)
    report: Runtime = {"active": True, "report_seconds": 0.25}
    trial = runner._trial(job, run, report, None)
    assert (trial.wall, processor(trial)) == (2.0, 1.5)
    assert trial.runtime == {"active": True}
