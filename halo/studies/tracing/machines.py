"""The machine that halo-trace simulates, as an argument."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halo.record.simulation import machine_text


@contextmanager
def machine_of(file: Path | None, none: bool = False) -> Iterator[str]:
    """`this`, the path of a file in the simulator's form, or empty for no simulation."""
    if none or file is None:
        yield "" if none else "this"
        return
    with tempfile.NamedTemporaryFile("w", prefix="halo-machine-") as described:
        described.write(machine_text(file))
        described.flush()
        yield described.name
