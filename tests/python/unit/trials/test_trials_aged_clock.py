"""What a trial on an aged heap says about the main thread: nothing, as littering is part of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from halo.aging import Litter, LitterLog
from halo.process.foreground import Ending
from halo.process.target import Target
from halo.settings import read_settings
from halo.trials.racing.clock import deciding_clock, wall
from halo.trials.runs.job import Configuration, Job, Output
from halo.trials.runs.laboratory import Laboratory
from halo.trials.runs.launcher import Run


def test_littering_does_not_make_processor_time_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program waits, and the littering before it computes for three seconds."""
    nothing: Any = None
    laboratory = Laboratory(read_settings(), nothing, tmp_path, tmp_path)
    run = Run(1, Ending(0, 0), 4.0, 3.2, 0.0, 1000, 0, main_processor=3.2, delayed=0.0)
    log = LitterLog(3.0, 3.0, 0.0, 0.0, 1.0, {})
    for stream in ("stdout", "stderr"):
        (tmp_path / stream).touch()
    output = Output(0, 0, 0, "", ())
    monkeypatch.setattr(laboratory, "_run", lambda job, config: (run, output))
    monkeypatch.setattr(laboratory._aging, "log", lambda name, pid: log)
    job = Job(Target(Path("/bin/true"), "true"), ())
    trial = laboratory.measure(job, Configuration("glibc", {}, litter=Litter(0.4)))
    assert (trial.wall, trial.main_processor, trial.delayed) == (1.0, 0.0, 0.0)
    assert deciding_clock([trial]) is wall
