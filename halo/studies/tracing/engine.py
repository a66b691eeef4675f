"""The LLVM engine: records a program built with halo-cc or halo-c++, at compiled speed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadTrace
from halo.base.settings import Settings
from halo.binary.process.native_tool import output_for_trace
from halo.binary.process.target import Target
from halo.record.listener import listening
from halo.record.parts import Limits
from halo.record.producer import CommandLine, PlainProducer, RecordingJob
from halo.studies.tracing.reader import check_reader, check_there


class LlvmProducer(PlainProducer):
    name = "llvm"
    summary = "a program built with halo-cc or halo-c++, at compiled speed"
    records_any_program = False
    slowdown = 1
    start_seconds = 0.0

    def parts(self, settings: Settings) -> Sequence[Path]:
        return (settings.tracer,)

    def check(self, settings: Settings) -> None:
        check_reader(settings)

    @contextmanager
    def session(self, settings: Settings, job: RecordingJob, folder: Path) -> Iterator[CommandLine]:
        from halo.studies.tracing.run import VARIABLE, check_instrumented

        check_instrumented(job.target)
        socket = folder / "traces"
        command = [str(settings.tracer), "profile", *profile_options(job.limits, folder)]
        command += [f"--progress={folder / 'progress'}", f"listen:{socket}"]
        with listening(command, settings.environment):
            environment = {**settings.environment, VARIABLE: f"socket:{socket}"}
            arguments = [job.target.name, *job.arguments]
            yield CommandLine(job.target.path, arguments, environment)

    def nothing(self, target: Target) -> str:
        return f"check that {target.name} was built with halo-cc or halo-c++ (docs/tracing.md)"


@dataclass(frozen=True)
class StoredRecording:
    """A recording from a stored trace: its part, and the traced program.

    `complete` is false if the trace ends before the program did.
    """

    part: Path
    program: Path
    arguments: tuple[str, ...]
    complete: bool


def profile_of(
    settings: Settings, trace: Path, limits: Limits, folder: Path, phase: str = ""
) -> StoredRecording:
    """A stored trace's part of a profile; `BadTrace` if the trace is missing or damaged.

    An object trace has the phase from the first entry into the function `phase` to the last exit.
    """
    check_reader(settings)
    check_there(trace)
    options = profile_options(limits, folder)
    if phase:
        options.append(f"--phase-function={phase}")
    _call(settings, trace, "profile", *options)
    info = json.loads(_call(settings, trace, "info"))
    about = info["about"]
    parts = list(folder.glob("part.*.json"))
    if not about or not parts:
        raise BadTrace(f"{trace} is cut short before its first event; record the program again.")
    arguments = tuple(about["args"][1:])
    complete = info["ending"] == "complete"
    return StoredRecording(parts[0], Path(about["program"]), arguments, complete)


def _call(settings: Settings, trace: Path, *command: str) -> str:
    return output_for_trace([str(settings.tracer), *command], trace)


def profile_options(limits: Limits, folder: Path) -> list[str]:
    """Options of `halo-trace profile`, which writes the parts to `folder`."""
    return [f"--{argument}" for argument in (f"out={folder / 'part'}", *limits.arguments(folder))]
