"""The progress of a recording: reads the recorder's counters and shows them on a terminal."""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass
from pathlib import Path

FIELDS = struct.Struct("<5Q")
# Native speed is not known while recording, so it is assumed, and the line says "≈".
ASSUMED_INSTRUCTIONS_PER_SECOND = 3.0e9
# A program that waits executes next to nothing: then the estimate says nothing and is not shown.
ABSURD = 1000
FIRST_SECONDS = 2.0  # of the recording, before its first line; then as long again each time


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
    """A number for people: 950, 12.3 k, 4.5 M."""
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
    """Writes a line now and then on stderr where that is a terminal, and nothing anywhere else.

    They are whole lines: one that is drawn over would run into what the program writes there.
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
