"""The time limits of single runs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from halo.binary.process.foreground import Ending
from halo.binary.process.target import Target
from halo.measure.runs import single_run
from halo.measure.runs.failures import Overdue
from halo.measure.runs.job import Job
from halo.measure.runs.launcher import Launcher, Run, Streams
from halo.measure.runs.single_run import TimeLimits, native_limits, recorded_limits, run_job
from halo.record.producer import CommandLine

JOB = Job(Target(Path("/bin/sh"), "sh"), ("-c", "sleep 0.4"))


def run(folder: Path, limits: TimeLimits, job: Job = JOB, said: list[str] | None = None) -> Run:
    streams = Streams(Path(os.devnull), folder / "stdout", folder / "stderr")
    command = CommandLine(job.target.path, job.command, dict(os.environ))
    remind = None if said is None else said.append
    with Launcher() as launcher:
        return run_job(launcher, job, command, streams, os.environ, limits, remind)


def test_a_users_limit_is_taken_and_the_default_grows_with_the_first_run() -> None:
    assert native_limits(JOB, None).run == 600
    assert native_limits(JOB, 20).run == 600
    assert native_limits(JOB, 300).run == 3000
    assert native_limits(replace(JOB, timeout=5), 300).run == 5
    assert recorded_limits(replace(JOB, timeout=5)).run == 500
    assert recorded_limits(JOB).ready == 10 * native_limits(JOB, None).ready


def test_a_run_within_its_limit(tmp_path: Path) -> None:
    assert 0.4 <= run(tmp_path, TimeLimits(30, "of --timeout")).wall < 30


def test_a_run_beyond_its_limit(tmp_path: Path) -> None:
    with pytest.raises(Overdue, match=r"did not end within 0.1 s, the limit of --timeout, and was"):
        run(tmp_path, TimeLimits(0.1, "of --timeout"))


def test_a_recording_that_takes_long_is_ended_without_an_error(tmp_path: Path) -> None:
    """What it wrote until then stays, and nothing of it lives on."""
    script = "echo begun; echo $$; trap 'echo ended; exit 0' TERM; while :; do sleep 0.05; done"
    found = run(tmp_path, recorded_limits(JOB, 0.5), replace(JOB, arguments=("-c", script)))
    assert found.was_cut and found.wall == 0.5 and found.ending == Ending(0, 0)
    begun, process, ended = (tmp_path / "stdout").read_text().split()
    assert (begun, ended) == ("begun", "ended")
    with pytest.raises(ProcessLookupError):
        os.kill(int(process), 0)


def test_a_recording_that_ends_in_time_is_whole(tmp_path: Path) -> None:
    found = run(tmp_path, recorded_limits(JOB, 30.0))
    assert not found.was_cut and 0.4 <= found.wall < 30


def test_a_time_limit_that_is_shorter_than_enough_is_a_limit(tmp_path: Path) -> None:
    with pytest.raises(Overdue, match=r"within 0.1 s, the limit of --timeout"):
        run(tmp_path, replace(TimeLimits(0.1, "of --timeout"), enough=0.2))


@pytest.mark.parametrize("pause", [0.1, 30.0])
def test_a_long_first_run_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    monkeypatch.setattr(single_run, "REMINDER_SECONDS", pause)
    said: list[str] = []
    assert run(tmp_path, TimeLimits(60, "without --timeout"), said=said).wall >= 0.4
    assert len(said) == (pause < 0.4)
    assert all("--load SCRIPT" in text and "after 60 s" in text for text in said)
