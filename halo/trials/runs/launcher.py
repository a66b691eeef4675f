"""Starts one fresh process, waits for it and returns its resource usage."""

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
from halo.process.foreground import Ending
from halo.trials.runs.counters import Counters, counted

SPAWNER = Path(__file__).with_name("spawner.py")


@dataclass(frozen=True)
class Streams:
    """The files of a process's three standard streams."""

    stdin: Path
    stdout: Path
    stderr: Path


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
    waits: int  # voluntary context switches
    counters: Mapping[str, int] = field(default_factory=dict)


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
            # Wait for signals here: within marshal an interruption would look like a lost process.
            select.select([self._process.stdout], [], [])
            answer = marshal.load(self._process.stdout)
        except (EOFError, BrokenPipeError) as error:
            raise HaloError("The process that starts the trials ended; run halo again.") from error
        if isinstance(answer, str):
            raise CannotRun(f"{program} cannot be started: {answer}.")
        pid, status, wall, user, system, kilobytes, faults, waits = answer
        counters = counted(before, self._counters.read())
        ending = Ending.from_wait(status)
        memory = kilobytes * 1024
        return Run(pid, ending, wall / 1e9, user, system, memory, faults, waits, counters)
