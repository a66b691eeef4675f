"""Starts one fresh process, waits for it and says what it took."""

from __future__ import annotations

import marshal
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from halo.errors import CannotRun, HaloError
from halo.foreground import Ending
from halo.trials.counters import Counters, counted

SPAWNER = Path(__file__).with_name("spawner.py")


@dataclass(frozen=True)
class Streams:
    """The files that a process reads and writes as its three streams."""

    stdin: Path
    stdout: Path
    stderr: Path


@dataclass(frozen=True)
class Run:
    """A finished process, in seconds and bytes; `counters` where the machine has any."""

    pid: int
    ending: Ending
    wall: float
    user: float
    system: float
    peak_memory: int
    minor_faults: int
    counters: Mapping[str, int] = field(default_factory=dict)


class Launcher:
    """A connection to the spawner (see spawner.py for why there is one)."""

    def __init__(self, cpu: int | None = None) -> None:
        command = [sys.executable, "-I", "-S", os.fspath(SPAWNER)]
        if cpu is not None:
            command.append(str(cpu))
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # What kills the whole job must leave it the moment to end the run's processes.
            start_new_session=True,
        )
        self._counters = Counters(self._process.pid)

    @property
    def pid(self) -> int:
        """The spawner's: the parent of all that is started."""
        return self._process.pid

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin and self._process.stdout
        self._counters.__exit__(kind, value, trace)
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(
        self,
        program: Path,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        streams: Streams,
    ) -> Run:
        assert self._process.stdin and self._process.stdout
        paths = tuple(str(path) for path in (streams.stdin, streams.stdout, streams.stderr))
        request: Any = (str(program), list(arguments), dict(environment), paths)
        before = self._counters.read()
        try:
            marshal.dump(request, self._process.stdin)
            self._process.stdin.flush()
            # An interruption has to come here: inside of marshal it would look like a lost process.
            select.select([self._process.stdout], [], [])
            answer = marshal.load(self._process.stdout)
        except (EOFError, BrokenPipeError) as error:
            raise HaloError("The process that starts the trials ended; run halo again.") from error
        if isinstance(answer, str):
            raise CannotRun(f"{program} cannot be started: {answer}.")
        pid, status, wall, user, system, kilobytes, faults = answer
        counters = counted(before, self._counters.read())
        ending = Ending.from_wait(status)
        return Run(pid, ending, wall / 1e9, user, system, kilobytes * 1024, faults, counters)
