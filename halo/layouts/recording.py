"""Records an object trace of a program."""

from __future__ import annotations

from pathlib import Path

from halo.errors import BadInput, RecordingFailed
from halo.files.destination import check_place
from halo.process.target import Target
from halo.recording.parts import Limits
from halo.recording.producer import Job, Producer
from halo.recording.progress import ProgressLines
from halo.recording.run import record
from halo.settings import Settings


def record_objects(
    engine: Producer,
    settings: Settings,
    target: Target,
    arguments: list[str],
    path: Path,
    folder: Path,
) -> None:
    """Runs the program, on our own streams, and writes the object trace of its first process.

    `path` must not exist; `folder` is for the recorder.
    """
    check_place(path)
    if path.exists():
        raise BadInput(f"{path} exists; remove it, or choose another file.")
    limits = Limits(sinks={"objects": str(path.absolute())})
    follow = ProgressLines(folder / "progress").tick
    recording = record(engine, settings, Job(target, arguments, limits), folder, follow)
    if not recording.parts or not path.is_file():
        raise RecordingFailed(
            f"{target.name} ended without an object trace; check that it runs to its end, and the"
            " recorder with: halo doctor"
        )
