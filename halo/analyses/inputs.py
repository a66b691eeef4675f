"""From what the user names, a trace or a folder of columns, to a folder of columns."""

from __future__ import annotations

from pathlib import Path

from halo.errors import BadInput, UsageError


def columns_of(paths: list[Path]) -> Path:
    """The folder of columns that holds what `paths` name."""
    if len(paths) != 1:
        raise UsageError("Name one folder of columns (`halo columns` makes one of a trace).")
    if not paths[0].exists():
        raise BadInput(f"There is no {paths[0]}.")
    return paths[0]
