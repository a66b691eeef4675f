"""One trial of a service: started, used by the load, stopped. Its time is that of the load."""

from __future__ import annotations

import json
import math
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from halo.binary.process.foreground import Ending
from halo.measure.runs.counters import counted
from halo.measure.runs.failures import last_words
from halo.measure.runs.launcher import Failure, Launcher, Run, Streams
from halo.measure.services.processes import handles, has_ended, usage_of
from halo.measure.services.readiness import PortTaken, Test, test_of
from halo.measure.services.service import FILE, LINE, LISTENS, TCP, Ready, Service
from halo.record.producer import CommandLine

FIRST_PAUSE, LAST_PAUSE = 0.001, 0.05  # seconds between two tests of readiness
GROWTH = 1.2
REPORT_SIGNAL = int(signal.SIGRTMAX) - 2  # requests the runtime's report
REPORT_SECONDS = 2.0
CHECK_PAUSE = 0.5  # seconds between two checks of the service during the load
AFTER_END = 5.0  # seconds that the load has when the service has ended
LOAD_ERRORS = "load.stderr"  # the load's standard error, beside that of the service
# The signs that a service is ready, as a clause, and the remedy if it is never seen.
SIGNS: Mapping[str, tuple[str, str]] = {
    LISTENS: (
        "no TCP or Unix socket of it accepts connections",
        "if it needs none, name another sign that it is ready: --ready",
    ),
    TCP: ("127.0.0.1 does not accept connections at its port", "check the port of --ready"),
    FILE: ("the file of --ready did not appear", "check its path"),
    LINE: (
        "no line of its output matches that of --ready",
        "check the expression, and that it flushes its output, which is a file",
    ),
}


@dataclass(frozen=True)
class Seconds:
    """Time limits: until it is ready, for the load, and from the signal to the end."""

    ready: float
    load: float
    stop: float


class LoadTooLong(Exception):
    """The load was stopped at its time limit."""


class Start(Enum):
    """What a service did before the load."""

    READY = 0
    LATE = 1
    ENDED = 2


@dataclass(frozen=True)
class Course:
    """The course of a trial.

    `used` is the load's run, None if there was none or if it stayed when the service had ended.
    `early`: the service ended by itself. `killed`: it did not end by its signal.
    """

    start: Start
    used: Run | None
    early: bool
    killed: bool
    ending: Ending


@dataclass(frozen=True)
class ServiceTrial:
    """Runs a service with its load, behind the interface of one run.

    The run's standard output is that of the load; its standard error is that of the service, and
    `LOAD_ERRORS` is beside it. `environment` is the load's. Statuses in `allowed`, 0, 128 + signal
    and death by the signal are good ends of the service: exit status 0.
    """

    service: Service
    environment: Mapping[str, str]
    seconds: Seconds
    allowed: frozenset[int] = frozenset({0})

    def run(self, launcher: Launcher, command: CommandLine, streams: Streams) -> Run:
        """Times are those of the load, processor time and counters those of the service meanwhile.

        Raises `LoadTooLong`; the service then ends with the launcher.
        """
        own = replace(streams, stdout=streams.stdout.with_name("service.stdout"))
        errors = streams.stderr.with_name(LOAD_ERRORS)
        for path in (own.stdout, own.stderr, streams.stdout, errors):
            path.write_bytes(b"")
        try:
            test = test_of(self.service.ready, (own.stdout, own.stderr))
        except PortTaken:
            return _not_started(self.service.ready)
        report = _report_path(command.environment)
        more = {"HALO_STATS_SIGNAL": str(REPORT_SIGNAL)} if report else {}
        pid = launcher.start(command.path, command.arguments, {**command.environment, **more}, own)
        start = self._wait_until_ready(pid, test)
        used = None
        if start is Start.READY:
            used = self._use(launcher, pid, Streams(Path(os.devnull), streams.stdout, errors))
        if report:
            _request_report(pid, Path(report.replace("%p", str(pid))))
        early = has_ended(pid)
        ended, killed = self._stop(launcher, pid)
        course = Course(start, used, early, killed, ended.ending)
        failure = self._judge(course, own.stderr, errors)
        return _joined(ended, course, failure)

    def _wait_until_ready(self, pid: int, test: Test) -> Start:
        pause, end = FIRST_PAUSE, time.monotonic() + self.seconds.ready
        while not test(pid):
            if has_ended(pid):
                return Start.ENDED
            if time.monotonic() > end:
                return Start.LATE
            time.sleep(pause)
            pause = min(LAST_PAUSE, pause * GROWTH)
        return Start.READY

    def _use(self, launcher: Launcher, pid: int, streams: Streams) -> Run | None:
        """The load's run, with the processor time and the counters of the service."""
        load = self.service.load
        environment = {**self.environment, "HALO_PID": str(pid)}
        # Not the service's launcher, which counts its children and binds them to a processor.
        with Launcher() as client:
            before, counters = usage_of(pid), launcher.read_counters()
            client.start(load.path, load.words, environment, streams)
            found = self._await_load(client, pid)
            events = counted(counters, launcher.read_counters())
            user, system = usage_of(pid).since(before)
        if found is None:
            return None
        return replace(found, user=user, system=system, counters=events)

    def _await_load(self, client: Launcher, pid: int) -> Run | None:
        """The load's run; None if it does not end soon after the service."""
        end = time.monotonic() + self.seconds.load
        last = math.inf
        while True:
            found = client.wait(CHECK_PAUSE)
            now = time.monotonic()
            if found is not None or now > last:
                return found
            if now > end:
                raise LoadTooLong
            if last == math.inf and has_ended(pid):
                last = now + AFTER_END

    def _stop(self, launcher: Launcher, pid: int) -> tuple[Run, bool]:
        """The service's run, and whether it had to be killed."""
        with suppress(ProcessLookupError):
            os.kill(pid, self.service.stop)
        found = launcher.wait(self.seconds.stop)
        if found is not None:
            return found, False
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        found = launcher.wait()
        assert found is not None
        return found, True

    def _judge(self, course: Course, stderr: Path, errors: Path) -> Failure | None:
        """The first cause for which the trial is unusable."""
        service, status = self.service, course.ending.exit_status
        how = _how(course.ending)
        if course.start is Start.ENDED:
            way_out = "keep it in the foreground" if not status else "fix that first"
            return Failure(f"it {how} before it was ready", last_words(stderr), way_out)
        if course.start is Start.LATE:
            sign, way_out = SIGNS[service.ready.kind]
            what = f"it was not ready within {self.seconds.ready:g} s, as {sign}"
            return Failure(what, last_words(stderr), way_out)
        used = course.used
        if used is None or _failed(used.ending):
            if course.early or used is None:
                what = f"it {how} during the load {service.load}"
                return Failure(what, last_words(stderr), "fix that first")
            return Failure(
                f"the load {service.load} {_how(used.ending)}",
                last_words(errors),
                "run it against the program by hand to see why; if the program was not ready,"
                " name the sign that it is: --ready",
            )
        name, way_out = service.stop.name, "name the signal that ends it: --stop SIGNAL"
        if course.killed:
            what = f"it did not end within {self.seconds.stop:g} s of {name}, and was killed"
            return Failure(what, last_words(stderr), way_out)
        if course.ending.signal == service.stop:
            return None
        if status in {0, 128 + service.stop} or (status in self.allowed and status < 128):
            return None
        when = f"during the load {service.load}" if course.early else f"after {name}"
        if not course.ending.signal:
            way_out += f", or accept it with --allow-status {status}"
        return Failure(f"it {how} {when}", last_words(stderr), way_out)


def _how(ending: Ending) -> str:
    if ending.signal:
        return f"died by signal {ending.signal}"
    return f"ended with status {ending.exit_status}"


def _failed(ending: Ending) -> bool:
    return bool(ending.signal or ending.exit_status)


def _joined(ended: Run, course: Course, failure: Failure | None) -> Run:
    """Memory and page faults are those of the service's whole life.

    What its main thread did during the load is unknown.
    """
    good = replace(ended, ending=Ending(0, 0), failure=failure, main_processor=0.0, delayed=0.0)
    used = course.used
    if used is None:
        return good
    if course.early:  # what it has used is known for its whole life only
        used = replace(used, user=ended.user, system=ended.system)
    return replace(good, wall=used.wall, user=used.user, system=used.system, counters=used.counters)


def _not_started(ready: Ready) -> Run:
    what = f"another process already listens at port {ready.value} of 127.0.0.1"
    failure = Failure(what, "", "stop that one first")
    return Run(0, Ending(0, 0), 0, 0, 0, 0, 0, 0, 0, failure=failure)


def _report_path(environment: Mapping[str, str]) -> str:
    return environment.get("HALO_STATS", "")


def _request_report(pid: int, path: Path) -> None:
    """Waits for the runtime's report, which it only writes by itself if the program exits."""
    if not handles(pid, REPORT_SIGNAL):
        return  # it is inert, or the program has ended: without a handler, the signal would kill
    with suppress(ProcessLookupError):
        os.kill(pid, REPORT_SIGNAL)
    end = time.monotonic() + REPORT_SECONDS
    while time.monotonic() < end and not _is_whole(path):
        time.sleep(FIRST_PAUSE)


def _is_whole(path: Path) -> bool:
    try:
        json.loads(path.read_text())
    except (OSError, ValueError):
        return False
    return True
