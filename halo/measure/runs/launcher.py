"""Starts one fresh process, waits for it and returns its resource usage."""

from __future__ import annotations

import io
import marshal
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from halo.base.errors import CannotRun, HaloError
from halo.binary.process.foreground import Ending
from halo.measure.runs.counters import Counters, Reading, counted
from halo.record.producer import CommandLine

SPAWNER = Path(__file__).with_name("spawner.py")
MARK = "HALO_RUN"  # a variable by which all processes of a run are found


@dataclass(frozen=True)
class Streams:
    """The files of a process's three standard streams."""

    stdin: Path
    stdout: Path
    stderr: Path


@dataclass(frozen=True)
class Failure:
    """Why a run is unusable although its process did not fail by itself.

    `what` is a clause, `words` the end of a standard error after `: `, `way_out` the remedy.
    """

    what: str
    words: str
    way_out: str


@dataclass(frozen=True)
class Run:
    """A finished process, in seconds and bytes; `counters` if the machine has any."""

    pid: int
    ending: Ending
    wall: float
    user: float
    system: float
    peak_memory: int
    minor_faults: int
    main_processor: float  # of the main thread
    delayed: float  # of the main thread, ready but without a processor
    counters: Mapping[str, int] = field(default_factory=dict)
    failure: Failure | None = None
    was_cut: bool = False  # ended because it had run for long enough


class Launcher:
    """A connection to the spawner, whose purpose spawner.py explains."""

    def __init__(self, cpu: int | None = None) -> None:
        command = [sys.executable, "-I", "-S", os.fspath(SPAWNER)]
        if cpu is not None:
            command.append(str(cpu))
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A signal to halo's process group must not kill it: it ends the run's processes.
            start_new_session=True,
        )
        assert self._process.stdout
        # Unbuffered, as `select` does not see what a buffer holds.
        self._answers = io.FileIO(self._process.stdout.fileno(), closefd=False)
        self._counters = Counters(self._process.pid)

    @property
    def pid(self) -> int:
        """The process id of the spawner, the parent of all runs."""
        return self._process.pid

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdout
        self._counters.__exit__(kind, value, trace)
        self.stop()
        self._process.stdout.close()

    def run(
        self,
        program: Path,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        streams: Streams,
    ) -> Run:
        """Runs a process to its end."""
        self.send(program, arguments, environment, streams)
        found = self.wait()
        assert found is not None
        return found

    def start(
        self,
        program: Path,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        streams: Streams,
    ) -> int:
        """Starts a process, for whose end `wait` waits; returns its id.

        When it ends, all that it has started ends too, daemons included.
        """
        self.send(program, arguments, {**environment, **self._marked}, streams, self._mark)
        pid = self._answer(None)
        assert isinstance(pid, int)
        return pid

    def send(
        self,
        program: Path,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        streams: Streams,
        mark: str = "",
    ) -> None:
        """Has the spawner start a process, for whose end `wait` waits."""
        self._program = program
        self._before = self.read_counters()
        self._send((_start_of(program, arguments, environment, streams), mark))

    def wait(self, limit: float | None = None) -> Run | None:
        """The process that was started last, when it has ended; None after `limit` seconds."""
        answer = self._answer(limit)
        if answer is None:
            return None
        return _run_of(answer, counted(self._before, self.read_counters()))

    def run_in_slices(
        self,
        commands: Sequence[tuple[CommandLine, Streams]],
        slices: Sequence[float],
        limit: float,
    ) -> list[Run] | int:
        """Runs several processes, of which one at a time runs, for its slice in seconds.

        The wall-clock time of a process is that of its slices. If one needs more than `limit`
        seconds, all end, and its index is returned.
        """
        runs = [
            _start_of(each.path, each.arguments, {**each.environment, **self._marked}, streams)
            for each, streams in commands
        ]
        self._program = commands[0][0].path
        milliseconds = [max(1, round(1000 * each)) for each in slices]
        self._send([runs, milliseconds, round(1000 * limit), self._mark])
        found = self._answer(None)
        return found if isinstance(found, int) else [_run_of(each) for each in found]

    @property
    def _marked(self) -> Mapping[str, str]:
        return {MARK: f"{self.pid:010}"}

    @property
    def _mark(self) -> str:
        return f"{MARK}={self.pid:010}"

    def _lost(self) -> HaloError:
        """The error if the spawner has ended. Ends what it has left, which may be stopped."""
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdigit() and self._mark.encode() in (
                    (folder / "environ").read_bytes().split(b"\0")
                ):
                    os.kill(int(folder.name), signal.SIGKILL)
        return HaloError("The process that starts the trials ended; run halo again.")

    def _send(self, request: Any) -> None:
        assert self._process.stdin
        try:
            marshal.dump(request, self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._lost() from error

    def stop(self) -> None:
        """Ends the running process and all its descendants; nothing can be started afterwards."""
        assert self._process.stdin
        with suppress(BrokenPipeError):  # a request that a lost spawner did not read
            self._process.stdin.close()
        self._process.wait()

    def read_counters(self) -> dict[str, Reading]:
        """The event counters of all processes of this launcher."""
        return self._counters.read()

    def _answer(self, limit: float | None) -> Any:
        """The spawner's next answer; None after `limit` seconds. Raises `CannotRun`."""
        # Wait for signals here: within marshal an interruption would look like a lost process.
        if not select.select([self._answers], [], [], limit)[0]:
            return None
        try:
            answer = marshal.load(self._answers)
        except EOFError as error:
            raise self._lost() from error
        if isinstance(answer, str):
            raise CannotRun(f"{self._program} cannot be started: {answer}.")
        return answer


def _start_of(
    program: Path, arguments: Sequence[str], environment: Mapping[str, str], streams: Streams
) -> Any:
    """The part of a request that says what to start."""
    paths = tuple(str(path) for path in (streams.stdin, streams.stdout, streams.stderr))
    return str(program), list(arguments), dict(environment), paths


def _run_of(answer: Any, counters: Mapping[str, int] | None = None) -> Run:
    pid, status, wall, user, system, kilobytes, faults, ran, delayed = answer
    usage = (wall / 1e9, user, system, kilobytes * 1024, faults)
    return Run(pid, Ending.from_wait(status), *usage, ran / 1e9, delayed / 1e9, counters or {})
