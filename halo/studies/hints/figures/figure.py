"""A figure of the types from which `halo study hints` learnt: a drawing and a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.studies.hints.results import LearntType, read_learnt

MAX_TYPES = 6
WIDTH = 6.4
"""Inches."""

Draw = Callable[[Sequence[LearntType], str, str], bytes]
"""Draws types; then the end of the note, and the ending of the file."""


@dataclass(frozen=True)
class LearntFigure:
    """`draw` gets as many types as are shown, `table` all of them."""

    name: str
    summary: str
    draw: Draw
    table: Callable[[Sequence[LearntType]], Table]
    endings: Sequence[str] = (*IMAGES, *TABLES)
    accepts: Sequence[str] = ("top",)

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        found = read_learnt(paths)
        if ending in TABLES:
            return self.table(found).to_file(ending)
        shown = found[: options.top or MAX_TYPES]
        left = len(found) - len(shown)
        return self.draw(shown, f" {left} more types are not shown." if left else "", ending)
