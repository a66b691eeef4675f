"""The list of figures of `halo plot`."""

from __future__ import annotations

from collections.abc import Sequence

from halo.base.errors import UsageError
from halo.registry import FIGURES as ENTRIES
from halo.registry import load
from halo.report.figures.base import Figure

FIGURES: Sequence[Figure] = load(ENTRIES)


def find_figure(name: str) -> Figure:
    """The figure of that name; raises `UsageError` (listing all) if there is none."""
    for figure in FIGURES:
        if figure.name == name:
            return figure
    names = ", ".join(figure.name for figure in FIGURES)
    raise UsageError(f"The figure '{name}' does not exist; choose one of: {names}.")
