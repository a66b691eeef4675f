"""Records programs, and makes their streams: what they ask of the last level."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from halo.base.errors import RecordingFailed, TrialFailed
from halo.base.files.atomic import move_file
from halo.base.settings import Settings
from halo.binary.process.foreground import Ending
from halo.record.parts import MAX_TRACED, Limits, workspace
from halo.record.producer import Producer, RecordingJob
from halo.record.progress import ProgressLines, read_progress
from halo.record.run import record
from halo.record.sink_options import OBJECTS
from halo.studies.pollution.corun.members import Member
from halo.studies.pollution.corun.tools import Tools


@dataclass(frozen=True)
class WatchTimes:
    """The times of the watch in microseconds: between samples of a page, and between phases.

    They are a thousandth of the paper's, whose programs run that much longer.
    """

    pause_us: int = 100
    period_us: int = 5000

    def options(self) -> list[str]:
        return [f"--pause-us={self.pause_us}", f"--period-us={self.period_us}"]


class StreamMaker:
    """Makes each stream once, in `folder`. Streams that are there already are used as they are.

    Their names depend on the program, its arguments and the files that these name, the machine, the
    engine and the times. They do not depend on the user's environment.
    """

    def __init__(
        self, settings: Settings, engine: Producer, tools: Tools, times: WatchTimes, folder: Path
    ) -> None:
        self._settings, self._engine, self._tools = settings, engine, tools
        self._times, self._folder = times, folder

    def path_of(self, member: Member) -> Path:
        """The file of a program's stream, which need not exist."""
        made_from = (
            str(member.target.path.resolve()),
            _version(member.target.path),
            member.arguments,
            [_version(word) for word in member.arguments if os.path.isfile(word)],
            self._engine.name,
            member.environment,
            member.limit,
            self._tools.machine,
            self._times,
        )
        number = hashlib.sha256(repr(made_from).encode()).hexdigest()[:16]
        return self._folder / f"{member.target.path.name}-{number}.stream"

    def make(self, member: Member) -> Path:
        """The stream of a program, which runs now unless there is one.

        `TrialFailed` if the program fails, `RecordingFailed` if nothing can be recorded.
        """
        path = self.path_of(member)
        if path.is_file():
            return path
        with workspace() as folder:
            trace = self._record(member, folder)
            made = folder / "stream"
            options = [f"--limit={member.limit}"] if member.limit else []
            self._tools.make_stream(trace, made, [*self._times.options(), *options])
            move_file(made, path)
        return path

    def _record(self, member: Member, folder: Path) -> Path:
        """The object trace of the program's first process."""
        limits = Limits(MAX_TRACED, {OBJECTS.name: 1})
        job = RecordingJob(member.target, list(member.arguments), limits)
        environment = {**self._settings.environment, **dict(member.environment)}
        settings = replace(self._settings, environment=environment)
        limiter = _Limiter(folder / "progress", member.limit)
        recording = record(self._engine, settings, job, folder, limiter.tick)
        trace = folder / OBJECTS.file
        ending = recording.ending
        if (ending.exit_status or ending.signal) and not limiter.reached:
            raise TrialFailed(
                f"{member.name} ended with {_end(ending)}, so it has no part in a mix; check it"
                f" with: {member.target.name} {' '.join(member.arguments)}".rstrip()
            )
        if not trace.is_file():
            raise RecordingFailed(
                f"{member.name} ended without an object trace; check the recorder with: halo doctor"
            )
        return trace


def _version(path: str | Path) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


class _Limiter:
    """Ends the program after that number of accesses; 0: never."""

    def __init__(self, progress: Path, limit: int) -> None:
        self._progress, self._limit = progress, limit
        self._show: Callable[[], None] = ProgressLines(progress).tick
        self.reached = False

    def tick(self) -> None:
        self._show()
        found = read_progress(self._progress) if self._limit else None
        if found is not None and found.accesses >= self._limit:
            self.reached = True
            os.kill(os.getpid(), signal.SIGTERM)  # which is forwarded to the program


def _end(ending: Ending) -> str:
    return f"signal {ending.signal}" if ending.signal else f"status {ending.exit_status}"
