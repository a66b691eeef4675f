"""One run of a job within its time limit: of a program to its end, or of a service with its load.

Whatever runs jobs calls `run_job`, and thus measures services, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from halo.binary.process.foreground import Ending
from halo.measure.runs.failures import Overdue, command_of
from halo.measure.runs.job import Job
from halo.measure.runs.launcher import Launcher, Run, Streams
from halo.measure.runs.surroundings import surroundings
from halo.measure.services.service_trial import LoadTooLong, Seconds, ServiceTrial
from halo.record.producer import CommandLine

DEFAULT_SECONDS = 600.0  # of a run without --timeout
USUAL_FACTOR = 10  # such a run may also take that many times as long as the first one
RECORDED_FACTOR = 100  # for the limits of runs under the recorder
REMINDER_SECONDS = 60.0  # when a first run without --timeout is reported to take long
READY_SECONDS, STOP_SECONDS = 60.0, 10.0  # of services: until they are ready, and to end
RECORDED_SERVICE_FACTOR = 10  # for both of these under the recorder


@dataclass(frozen=True)
class TimeLimits:
    """Seconds of a run or a load, where that limit is from, and the seconds of a service.

    The load of a service can tell by its environment that the service is `recorded`. A run of a
    program is ended after `enough` seconds, which does not count as a failure.
    """

    run: float | None
    origin: str
    ready: float = READY_SECONDS
    stop: float = STOP_SECONDS
    recorded: bool = False
    enough: float | None = None


SLOW = (RECORDED_SERVICE_FACTOR * READY_SECONDS, RECORDED_SERVICE_FACTOR * STOP_SECONDS, True)
UNLIMITED = TimeLimits(None, "", *SLOW)  # under a recorder


def native_limits(job: Job, usual: float | None) -> TimeLimits:
    """The limits of a native run; `usual` are the seconds of the first one, if there was one."""
    if job.timeout is not None:
        return TimeLimits(job.timeout, "of --timeout")
    return TimeLimits(max(DEFAULT_SECONDS, USUAL_FACTOR * (usual or 0)), "without --timeout")


def recorded_limits(job: Job, enough: float | None = None) -> TimeLimits:
    """The limits of a run under a recorder."""
    seconds = job.timeout or DEFAULT_SECONDS
    return TimeLimits(
        RECORDED_FACTOR * seconds,
        f"under the recorder ({RECORDED_FACTOR} times that of a native run)",
        *SLOW,
        enough,
    )


def run_job(
    launcher: Launcher,
    job: Job,
    command: CommandLine,
    streams: Streams,
    environment: Mapping[str, str],
    limits: TimeLimits,
    remind: Callable[[str], None] | None = None,
) -> Run:
    """Runs the command, which is that of the job or of a recorder of it.

    `environment` is the user's, for the load of a service. `remind` gets a sentence if the run
    takes long. Raises `Overdue` at the time limit; nothing of the run lives on, then, and the
    launcher can run nothing more.
    """
    with surroundings(job, environment), _stopped_if_interrupted(launcher):
        if job.service is not None:
            return _run_service(launcher, job, command, streams, environment, limits)
        launcher.send(command.path, command.arguments, command.environment, streams)
        seconds, found = limits.run, None
        if limits.enough is not None and limits.enough < (seconds or math.inf):
            return launcher.wait(limits.enough) or _cut(launcher, limits.enough)
        if remind is not None and (seconds is None or seconds > REMINDER_SECONDS):
            found = launcher.wait(REMINDER_SECONDS)
            seconds = None if seconds is None else seconds - REMINDER_SECONDS
            if found is None:
                remind(_reminder(job, limits))
        found = found or launcher.wait(seconds)
        if found is None:
            launcher.stop()
            raise overdue(job, limits)
        return found


def run_in_slices(
    launcher: Launcher,
    commands: Sequence[tuple[CommandLine, Streams]],
    slices: Sequence[float],
    limit: float,
) -> list[Run] | int:
    """Runs commands of a job at once, in time slices; the index of one that exceeds its limit."""
    with _stopped_if_interrupted(launcher):
        return launcher.run_in_slices(commands, slices, limit)


def overdue(job: Job, limits: TimeLimits) -> Overdue:
    """The error of a run of the job that was stopped at its limit."""
    return Overdue(
        command_of(job),
        _limit(limits),
        "; a service, which never ends by itself, needs a script that uses it: --load SCRIPT; a"
        " longer run needs more time: --timeout SECONDS",
    )


@contextmanager
def _stopped_if_interrupted(launcher: Launcher) -> Iterator[None]:
    """Ends the running process at an interrupt, before the user's cleanup begins."""
    try:
        yield
    except KeyboardInterrupt:
        launcher.stop()
        raise


def _cut(launcher: Launcher, seconds: float) -> Run:
    """Ends the running process. What it used is not known."""
    launcher.stop()
    return Run(launcher.pid, Ending(0, 0), seconds, 0, 0, 0, 0, 0, 0, was_cut=True)


def _run_service(
    launcher: Launcher,
    job: Job,
    command: CommandLine,
    streams: Streams,
    environment: Mapping[str, str],
    limits: TimeLimits,
) -> Run:
    assert job.service is not None
    users = {key: value for key, value in environment.items() if not key.startswith("HALO_")}
    users |= {"HALO_RECORDING": "1"} if limits.recorded else {}
    load = math.inf if limits.run is None else limits.run
    seconds = Seconds(limits.ready, load, limits.stop)
    try:
        trial = ServiceTrial(job.service, users, seconds, job.allowed)
        return trial.run(launcher, command, streams)
    except LoadTooLong:
        launcher.stop()
        raise Overdue(
            f"The load {job.service.load}",
            _limit(limits),
            f" with {command_of(job)}; if it needs more time, give it with --timeout SECONDS",
        ) from None


def _limit(limits: TimeLimits) -> str:
    return f"{limits.run:g} s, the limit {limits.origin}"


def _reminder(job: Job, limits: TimeLimits) -> str:
    end = "" if limits.run is None else f"; it is stopped after {limits.run:g} s (--timeout)"
    return (
        f"{command_of(job)} has been running for {REMINDER_SECONDS:g} s. If it is a service, which"
        f" never ends by itself, give a script that uses it: --load SCRIPT{end}."
    )
