"""Runs a program under the QEMU recorder and gathers the parts that its processes leave."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from halo.errors import MissingPart, UsageError
from halo.foreground import Ending, run_in_foreground
from halo.qemu import find_qemu
from halo.scratch import scratch_folder
from halo.settings import Settings
from halo.target import Target

# Both QEMU's -plugin and its -E split their value at commas.
UNSAFE = ", :"
LONGEST_TRACE = 50_000_000  # references, for hot data streams
MOST_REFERENCES = 1 << 31


@dataclass(frozen=True)
class Limits:
    """The recorder's parameters: bytes, and the longest trace kept for hot data streams.

    `machine` is what to simulate: `this`, or a file (halo/machine_file.py); empty: nothing.
    """

    distance: int = 128
    max_object: int = 4096
    streams: int = 0
    machine: str = ""


@dataclass(frozen=True)
class Recording:
    """A finished recording: how the program ended, and the parts, one for each process."""

    ending: Ending
    parts: tuple[Path, ...]
    seconds: float


@contextmanager
def workspace() -> Iterator[Path]:
    """A private folder whose path QEMU's options can express; gone afterwards."""
    with scratch_folder(avoid=UNSAFE) as folder:
        yield folder


def check_recorder(settings: Settings) -> None:
    """MissingPart unless the recorder's two libraries are built."""
    for part in (settings.recorder, settings.guest):
        if not part.is_file():
            raise MissingPart(f"The recorder is not built ({part} is missing); run: make build")


def record_command(
    settings: Settings,
    target: Target,
    arguments: Sequence[str],
    limits: Limits,
    folder: Path,
    guest: bool = True,
) -> list[str]:
    """The emulator's command line; everything it has to name lies under `folder`.

    Without the `guest` library allocations are not seen, and the program's own calls of `malloc`
    go where they would go natively: through the runtime, where that is preloaded.
    """
    emulator = find_qemu(settings).path
    for part in (settings.recorder, settings.guest):
        link = folder / part.name
        if not link.is_symlink():
            link.symlink_to(part)
    users = settings.environment.get("LD_PRELOAD", "")
    if "," in users:
        raise UsageError(
            "LD_PRELOAD holds a comma, which QEMU cannot pass on; link that library to another"
            " path first."
        )
    ours = str(folder / settings.guest.name) if guest else ""
    preload = ":".join(filter(None, [ours, users]))
    plugin = (
        f"{folder / settings.recorder.name},out={folder / 'part'},distance={limits.distance}"
        f",max_object={limits.max_object},streams={limits.streams}"
        f",progress={folder / 'progress'}"
        + (f",machine={limits.machine}" if limits.machine else "")
    )
    return [
        emulator,
        *("-cpu", "max"),
        *("-0", target.name),
        *("-E", f"LD_PRELOAD={preload}"),
        *("-plugin", plugin),
        str(target.path),
        *arguments,
    ]


def record(
    settings: Settings,
    target: Target,
    arguments: Sequence[str],
    limits: Limits,
    folder: Path,
    tick: Callable[[], None],
    guest: bool = True,
) -> Recording:
    """Runs the program under the recorder, on our own streams, with our signals handed on."""
    find_qemu(settings)
    check_recorder(settings)
    command = record_command(settings, target, arguments, limits, folder, guest)
    # QEMU itself runs natively: what the user preloads is for the program inside it.
    environment = {k: v for k, v in settings.environment.items() if k != "LD_PRELOAD"}
    start = time.perf_counter()
    ending = run_in_foreground(command[0], command, environment, tick)
    seconds = time.perf_counter() - start
    parts = sorted(folder.glob("part.*.json"), key=os.path.getmtime)
    return Recording(ending, tuple(parts), seconds)
