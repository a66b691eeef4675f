"""Runs halo's native tools, which end with a status of their own if their input is at fault."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from halo.base.errors import BadTrace, HaloError

CANNOT_WRITE = 1  # the exit status for an output that cannot be written
BAD_TRACE = 3  # the exit status for a missing, newer or damaged trace, or other unusable input


def output_of(command: Sequence[str], refused: Callable[[str], HaloError]) -> str:
    """The standard output; what `refused` makes of the tool's message if its input is at fault.

    `HaloError` if the tool fails otherwise.
    """
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    said = " ".join(done.stderr.split()).rstrip(".")
    if done.returncode == BAD_TRACE:
        raise refused(said)
    if done.returncode != 0:
        name = Path(command[0]).name
        raise HaloError(f"{name} failed: {said or f'status {done.returncode}'}.")
    return done.stdout


def output_for_trace(command: Sequence[str], trace: Path) -> str:
    """The standard output for a trace, the last argument; `BadTrace` if it cannot be read."""
    return output_of([*command, str(trace.absolute())], lambda said: BadTrace(f"{trace}: {said}."))
