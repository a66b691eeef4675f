"""What is recorded of a program, and what a recording leaves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from halo.foreground import Ending
from halo.scratch import scratch_folder

# Of QEMU: its -plugin and its -E split their values at commas.
UNSAFE = ", :"
# The path of a socket has at most 107 bytes; folders of halo in TMPDIR take up to 43 of them.
MAX_TMPDIR_BYTES = 64
LONGEST_TRACE = 50_000_000  # references, for hot data streams
MOST_REFERENCES = 1 << 31


@dataclass(frozen=True)
class Limits:
    """The recorder's parameters: bytes, and the longest trace kept for hot data streams.

    `machine` is what to simulate: `this`, or a file (halo/machine_file.py); empty: nothing. Unless
    it is `exact`, a producer may record bursts of accesses.
    """

    distance: int = 128
    max_object: int = 4096
    streams: int = 0
    machine: str = ""
    exact: bool = False


@dataclass(frozen=True)
class Recording:
    """A finished recording: how the program ended, and the parts, one for each process."""

    ending: Ending
    parts: tuple[Path, ...]
    seconds: float


@contextmanager
def workspace() -> Iterator[Path]:
    """A private folder for sockets, and whose path all engines' options can express.

    It is gone afterwards.
    """
    with scratch_folder(UNSAFE, MAX_TMPDIR_BYTES) as folder:
        yield folder


def gather_parts(folder: Path) -> list[Path]:
    """The parts that recorded processes have left, in the order of their ends."""
    return sorted(folder.glob("part.*.json"), key=os.path.getmtime)
