"""The Valgrind engine: records any unmodified program under translation, mostly in bursts."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from halo.errors import RecordingFailed
from halo.process.foreground import Ending
from halo.process.target import Target
from halo.recording.listener import listening
from halo.recording.parts import Limits
from halo.recording.producer import Command, Job, check_built
from halo.settings import Settings

# Messages in the log: by Valgrind's core, and by the tool.
UNKNOWN = "unhandled instruction bytes"
SANDBOXED = "halo: sandboxed"


class ValgrindProducer:
    name = "valgrind"
    summary = "any program, in bursts unless --exact"
    slowdown = 6
    start_seconds = 0.25

    def parts(self, settings: Settings) -> Sequence[Path]:
        return settings.engine, settings.consumer, settings.guest

    def check(self, settings: Settings) -> None:
        check_built(self.parts(settings))

    def mark(self, settings: Settings) -> str:
        return settings.engine.name

    @contextmanager
    def session(self, settings: Settings, job: Job, folder: Path) -> Iterator[Command]:
        consumer = consumer_command(settings, job.limits, folder)
        with listening(consumer, settings.environment, RecordingFailed):
            arguments = engine_arguments(settings, job, folder)
            environment = engine_environment(settings, job.guest)
            yield Command(settings.engine, arguments, environment)

    def judge(self, job: Job, ending: Ending, folder: Path) -> None:
        if not ending.signal:
            return
        log = (folder / "log").read_text(errors="replace")
        if ending.signal in (signal.SIGSYS, signal.SIGKILL) and SANDBOXED in log:
            raise RecordingFailed(
                f"{job.target.name} was killed in a sandbox that it made, which may forbid system"
                " calls of the recorder; record it with its sandbox switched off, if it can be."
            )
        if ending.signal == signal.SIGILL and UNKNOWN in log:
            raise RecordingFailed(
                f"{job.target.name} executed an instruction that cannot be translated, as those of"
                " AVX-512; record it with --engine llvm, or a build for another processor."
            )

    def nothing(self, target: Target) -> str:
        return "check that it runs to its end, and the recorder with: halo doctor"


def consumer_command(settings: Settings, limits: Limits, folder: Path) -> list[str]:
    """The command of the consumer, which writes the parts to `folder`."""
    return [
        str(settings.consumer),
        str(folder / "channels"),
        f"out={folder / 'part'}",
        f"progress={folder / 'progress'}",
        *limits.arguments(folder),
    ]


def engine_arguments(settings: Settings, job: Job, folder: Path) -> list[str]:
    """The engine's command line, without Valgrind's launcher, which would search elsewhere."""
    limits = job.limits
    options = ["--exact"] * limits.need_exact + ["--all-accesses"] * limits.need_all_accesses
    options += ["--contents"] * limits.need_contents
    return [
        str(settings.engine),
        "--command-line-only=yes",  # ignores the user's files and variables
        "--tool=halo",
        "-q",
        "--sigill-diagnostics=yes",
        "--vgdb=no",
        "--vex-guest-chase=no",  # costs more translation than it saves
        "--fair-sched=try",
        "--child-silent-after-fork=yes",
        f"--log-file={folder / 'log'}",
        f"--socket={folder / 'channels'}",
        f"--max-object={limits.max_object}",
        *options,
        job.target.name,
        *job.arguments,
    ]


def engine_environment(settings: Settings, guest: bool) -> Mapping[str, str]:
    """The engine's environment; the guest library precedes the user's LD_PRELOAD."""
    users = settings.environment.get("LD_PRELOAD", "")
    ours = str(settings.guest) if guest else ""
    launcher = {"VALGRIND_LAUNCHER": str(settings.engine)}  # the core requires this variable
    preload = ":".join(filter(None, [ours, users]))
    environment = {k: v for k, v in settings.environment.items() if k != "LD_PRELOAD"}
    return {**environment, **launcher, **({"LD_PRELOAD": preload} if preload else {})}
