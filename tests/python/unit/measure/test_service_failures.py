"""What halo says of a service that fails in a later trial, under something else than glibc."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import TrialFailed
from halo.base.settings import read_settings
from halo.binary.process.foreground import Ending
from halo.binary.process.target import Target
from halo.measure.runs.job import Configuration, Job, Output
from halo.measure.runs.launcher import Failure, Run
from halo.measure.runs.trial_runner import TrialRunner

JOB = Job(Target(Path("/bin/srv"), "srv"), ("7777",))


def test_a_failure_is_not_called_a_difference_of_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing: Any = None
    runner = TrialRunner(read_settings(), nothing, tmp_path, tmp_path / "evidence")
    died = Failure("it died by signal 11 during the load ./load", ": oh", "fix that first")

    def run(job: Job, config: Configuration) -> tuple[Run, Output]:
        for stream in ("stdout", "stderr"):
            (tmp_path / stream).touch()
        failure = None if config.label == "glibc" else died
        usage = Run(1, Ending(0, 0), 1.0, 1.0, 0.0, 1000, 0, 0.0, 0.0, failure=failure)
        return usage, Output(0, 0, 0, "", (), failure=failure)

    monkeypatch.setattr(runner, "_run", run)
    runner.measure(JOB, Configuration("glibc", {}))
    with pytest.raises(TrialFailed) as failed:
        runner.measure(JOB, Configuration("dense over glibc", {}))
    assert str(failed.value).startswith(
        "srv 7777 fails under dense over glibc, and not under glibc: it died by signal 11 during"
        " the load ./load: oh; "
    )
