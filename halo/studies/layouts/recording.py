"""Records an object trace of a program."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput, RecordingFailed
from halo.base.files.atomic import move_file
from halo.base.files.destination import check_place
from halo.base.settings import Settings
from halo.binary.elf.image import ElfImage
from halo.binary.elf.symbols import code_of_function
from halo.binary.process.target import Target
from halo.record.parts import MAX_OBJECT, Limits, Recording
from halo.record.producer import Producer, RecordingJob
from halo.record.profile import Profile, merge_parts
from halo.record.progress import ProgressLines
from halo.record.run import record
from halo.record.sink_options import OBJECTS


def find_phase(target: Target, function: str) -> str:
    """The recorder's description of a function's code, `src/recorder/analysis/phase.h`."""
    path = target.path.resolve()
    code = code_of_function(path, function)
    if not code:
        raise BadInput(
            f"{target.name} has no function {function} in its symbol table: it may be inlined,"
            " in a library, or the program is stripped."
        )
    image = ElfImage(path)
    ranges = ((image.file_offset(begin), end - begin) for begin, end in code)
    return "+".join(f"{at:x}-{at + size:x}" for at, size in ranges) + f"@{path}"


@dataclass(frozen=True)
class Run:
    """A program to trace; `phase` is from `find_phase`, or empty.

    Larger objects than `max_object` bytes count as memory outside objects.
    """

    target: Target
    arguments: list[str]
    phase: str = ""
    max_object: int = MAX_OBJECT


def record_objects(
    engine: Producer, settings: Settings, run: Run, path: Path, folder: Path
) -> Profile:
    """Runs the program, on our own streams, and writes the object trace of its first process.

    `path` must not exist; `folder` is for the recorder. The profile tells the contexts.
    """
    target = run.target
    check_place(path)
    if path.exists():
        raise BadInput(f"{path} exists; remove it, or choose another file.")
    limits = Limits(run.max_object, {OBJECTS.name: 1, "phase": run.phase})
    trace = folder / OBJECTS.file
    follow = ProgressLines(folder / "progress").tick
    recording = record(
        engine, settings, RecordingJob(target, run.arguments, limits), folder, follow
    )
    if not recording.parts or not trace.is_file():
        raise RecordingFailed(
            f"{target.name} ended without an object trace; check that it runs to its end, and the"
            " recorder with: halo doctor"
        )
    _warn(target, recording)
    found = merge_parts(recording.parts, target.path, run.arguments)
    move_file(trace, path)
    return found


def _warn(target: Target, recording: Recording) -> None:
    """Says on stderr if the program failed, or the trace is of one process of several."""
    ending, more = recording.ending, len(recording.parts) - 1
    if ending.signal or ending.exit_status:
        how = f"signal {ending.signal}" if ending.signal else f"status {ending.exit_status}"
        print(f"halo: warning: {target.name} ended with {how}", file=sys.stderr)
    if more:
        processes = "1 further process was" if more == 1 else f"{more} further processes were"
        print(f"halo: warning: {processes} not traced", file=sys.stderr)
