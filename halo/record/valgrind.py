"""The Valgrind engine: records any unmodified program under translation, mostly in bursts."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from halo.base.errors import RecordingFailed
from halo.base.settings import Settings
from halo.binary.process.allocators import preload
from halo.binary.process.foreground import Ending
from halo.record.listener import listening
from halo.record.parts import Limits
from halo.record.producer import CommandLine, EngineFailed, PlainProducer, RecordingJob
from halo.record.valgrind_failures import MAX_THREADS, fatal_cause, possible_cause

# Bytes. The core gives programs at most 16 MiB of stack, unless it is told otherwise.
DEFAULT_STACK, UNLIMITED_STACK = 16 << 20, 1 << 30


class ValgrindProducer(PlainProducer):
    name = "valgrind"
    summary = "any program, in bursts unless --exact"
    slowdown = 6
    start_seconds = 0.25

    def parts(self, settings: Settings) -> Sequence[Path]:
        return settings.engine, settings.consumer, settings.guest

    def mark(self, settings: Settings) -> str:
        return settings.engine.name

    @contextmanager
    def session(self, settings: Settings, job: RecordingJob, folder: Path) -> Iterator[CommandLine]:
        consumer = consumer_command(settings, job.limits, folder)
        with listening(consumer, settings.environment, RecordingFailed):
            arguments = engine_arguments(settings, job, folder)
            environment = engine_environment(settings, job.guest)
            yield CommandLine(settings.engine, arguments, environment)

    def judge(self, job: RecordingJob, ending: Ending, folder: Path) -> None:
        cause = fatal_cause(_log(folder), ending)
        if cause:
            raise EngineFailed(cause.meaning, job.target.name, cause.remedy)

    def suspicion(self, ending: Ending, folder: Path) -> str:
        return possible_cause(_log(folder), ending)


def _log(folder: Path) -> str | None:
    try:
        return (folder / "log").read_text(errors="replace")
    except FileNotFoundError:
        return None


def consumer_command(settings: Settings, limits: Limits, folder: Path) -> list[str]:
    """The command of the consumer, which writes the parts to `folder`."""
    return [
        str(settings.consumer),
        str(folder / "channels"),
        f"out={folder / 'part'}",
        f"progress={folder / 'progress'}",
        *limits.arguments(folder),
    ]


def engine_arguments(settings: Settings, job: RecordingJob, folder: Path) -> list[str]:
    """The engine's command line, without Valgrind's launcher, which would search elsewhere."""
    limits = job.limits
    options = ["--exact"] * limits.need_exact + ["--all-accesses"] * limits.need_all_accesses
    return [
        str(settings.engine),
        "--command-line-only=yes",  # ignores the user's files and variables
        "--tool=halo",
        "-q",
        "--sigill-diagnostics=yes",
        "--vgdb=no",
        "--vex-guest-chase=no",  # costs more translation than it saves
        "--fair-sched=try",
        f"--max-threads={MAX_THREADS}",
        *stack_options(resource.getrlimit(resource.RLIMIT_STACK)[0]),
        "--child-silent-after-fork=yes",
        f"--log-file={folder / 'log'}",
        f"--socket={folder / 'channels'}",
        f"--max-object={limits.max_object}",
        *options,
        job.target.name,
        *job.arguments,
    ]


def stack_options(limit: int) -> list[str]:
    """Gives the program the main stack that it has natively, by the limit in bytes."""
    if 0 <= limit <= DEFAULT_STACK:
        return []
    size = UNLIMITED_STACK if limit < 0 else min(limit, UNLIMITED_STACK)
    return [f"--main-stacksize={size}"]


def engine_environment(settings: Settings, guest: bool) -> Mapping[str, str]:
    """The engine's environment; the guest library precedes the user's LD_PRELOAD."""
    launcher = {"VALGRIND_LAUNCHER": str(settings.engine)}  # the core requires this variable
    return preload(settings.environment, [settings.guest if guest else None]) | launcher
