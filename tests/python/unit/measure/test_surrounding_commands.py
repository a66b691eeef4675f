"""The user's commands before and after each run: when they run, with what, and how they fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from halo.binary.process.target import Target
from halo.measure.runs.failures import Overdue, ProgramFailed
from halo.measure.runs.job import Job
from halo.measure.runs.launcher import Launcher, Run, Streams
from halo.measure.runs.single_run import TimeLimits, run_job
from halo.record.producer import CommandLine

SHELL = Target(Path("/bin/sh"), "sh")
LIMITS = TimeLimits(30, "of --timeout")


def job(folder: Path, script: str = "cat input", prepare: str = "", cleanup: str = "") -> Job:
    place = f"cd {folder}; "
    return Job(
        SHELL,
        ("-c", place + script),
        prepare=prepare and place + prepare,
        cleanup=cleanup and place + cleanup,
    )


def run(folder: Path, one: Job, limits: TimeLimits = LIMITS, **more: str) -> Run:
    streams = Streams(Path(os.devnull), folder / "stdout", folder / "stderr")
    environment = {"PATH": os.environ["PATH"], **more}
    command = CommandLine(one.target.path, one.command, environment)
    with Launcher() as launcher:
        return run_job(launcher, one, command, streams, environment, limits)


def test_a_program_that_consumes_its_input_has_it_again(tmp_path: Path) -> None:
    one = job(tmp_path, "cat input; rm input", "echo new >input", "echo done >>log")
    for _ in range(2):
        run(tmp_path, one)
        assert (tmp_path / "stdout").read_text() == "new\n"
    assert (tmp_path / "log").read_text() == "done\n" * 2


def test_they_are_not_timed(tmp_path: Path) -> None:
    found = run(tmp_path, job(tmp_path, "true", "sleep 0.5", "sleep 0.5"))
    assert found.wall < 0.5


def test_they_have_the_users_environment_and_no_plan(tmp_path: Path) -> None:
    script = 'echo "$A/$HALO_PLAN/$LD_PRELOAD/$(cat)" >told'
    run(tmp_path, job(tmp_path, "true", script), A="b", HALO_PLAN="/no.plan")
    assert (tmp_path / "told").read_text() == "b///\n"


def test_what_they_print_is_not_the_programs_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, job(tmp_path, "echo mine", "echo theirs; echo theirs >&2"))
    assert (tmp_path / "stdout").read_text() == "mine\n"
    assert "theirs" not in (tmp_path / "stderr").read_text() + "".join(capfd.readouterr())


def test_a_failure_ends_the_measurement_with_its_last_lines(tmp_path: Path) -> None:
    lines = "for i in 1 2 3 4; do echo line $i; done; echo no space >&2; exit 3"
    with pytest.raises(ProgramFailed) as found:
        run(tmp_path, job(tmp_path, "touch ran", lines))
    assert str(found.value) == (
        "The command of --prepare ended with status 3: line 3 / line 4 / no space."
    )
    assert not (tmp_path / "ran").exists(), "the program was not prepared for"
    with pytest.raises(ProgramFailed, match=r"of --cleanup ended with status 1: busy\.$"):
        run(tmp_path, job(tmp_path, "touch ran", cleanup="echo busy; exit 1"))
    assert (tmp_path / "ran").exists()
    with pytest.raises(ProgramFailed, match=r"of --prepare ended with status 127: .*no-such"):
        run(tmp_path, job(tmp_path, prepare="no-such-command"))


def test_a_run_that_does_not_end_is_cleaned_up_after(tmp_path: Path) -> None:
    with pytest.raises(Overdue):
        run(tmp_path, job(tmp_path, "sleep 60", cleanup="touch clean"), TimeLimits(0.2, "of x"))
    assert (tmp_path / "clean").exists()


def test_a_failed_cleanup_does_not_hide_why_the_run_failed(tmp_path: Path) -> None:
    with pytest.raises(Overdue, match="did not end within"):
        run(tmp_path, job(tmp_path, "sleep 60", cleanup="exit 1"), TimeLimits(0.2, "of x"))


def test_a_command_that_a_signal_ends_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProgramFailed, match=r"The command of --prepare died by signal 9"):
        run(tmp_path, job(tmp_path, "true", "kill -9 $$"))
