"""The progress of a recording: reads the recorder's counters and shows them on a terminal."""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass
from pathlib import Path

FIELDS = struct.Struct("<5Q")
# Native speed is unknown during a recording, so it is assumed, and the line has "≈".
ASSUMED_INSTRUCTIONS_PER_SECOND = 3.0e9
# A program that waits executes few instructions: then the estimate is useless and omitted.
ABSURD = 1000
FIRST_SECONDS = 2.0  # before the first line; the interval doubles after each line


@dataclass(frozen=True)
class Progress:
    """The recorder's counters at one moment."""

    objects: int
    accesses: int
    instructions: int
    elapsed_seconds: float

    @property
    def slowdown(self) -> float:
        """Elapsed time over the time that the instructions would take at the assumed speed."""
        native = self.instructions / ASSUMED_INSTRUCTIONS_PER_SECOND
        return self.elapsed_seconds / native if native else 0.0

    def line(self) -> str:
        text = f"halo: {count(self.objects)} objects, {count(self.accesses)} accesses"
        if 0 < self.slowdown < ABSURD:
            text += f", ≈{self.slowdown:.0f} times slower than native"
        return text


def count(number: int) -> str:
    """A human-readable number, such as 950, 12.3 k or 4.5 M."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return str(number)


def read_progress(path: Path) -> Progress | None:
    """The counters, or None while the recorder has not written any."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) < FIELDS.size:
        return None
    magic, objects, accesses, instructions, elapsed = FIELDS.unpack_from(data)
    return Progress(objects, accesses, instructions, elapsed / 1e9) if magic else None


class ProgressLines:
    """Writes lines at intervals to stderr if that is a terminal.

    Lines are not overwritten, as that would mix them with the program's output.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._active = sys.stderr.isatty()
        self._due = FIRST_SECONDS

    def tick(self) -> None:
        progress = read_progress(self._path) if self._active else None
        if progress is not None and progress.elapsed_seconds >= self._due:
            self._due = 2 * progress.elapsed_seconds
            sys.stderr.write(f"{progress.line()}\n")
            sys.stderr.flush()
