"""What a section about an analysis consists of, as plain data: sentences, charts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halo.report.bars import Bars
from halo.results.analysis import Cell

MOST_ROWS = 200
PLAIN = ("line", "offset", "bytes", "line_offset", "field_offset")
"""Columns of figures that are no counts, so that their thousands are not set apart."""
ADDRESSES = ("address", "cache_line")


@dataclass(frozen=True)
class Column:
    """A column's name; a column of figures stands on the right."""

    name: str
    figure: bool


@dataclass(frozen=True)
class Grid:
    """A table; `more` says how many rows are left out."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    more: str


@dataclass(frozen=True)
class Block:
    """A part of a section; what is empty or None is not shown. `folded` is what hides the table."""

    title: str = ""
    sentences: Sequence[str] = ()
    chart: Bars | None = None
    text: str = ""
    table: Grid | None = None
    folded: str = ""


def grid(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Grid:
    """The first rows as text."""
    figures = [
        any(_is_figure(row[at]) for row in rows)
        and all(row[at] is None or _is_figure(row[at]) for row in rows)
        for at in range(len(columns))
    ]
    left = len(rows) - MOST_ROWS
    return Grid(
        columns=[
            Column(name.replace("_", " "), figure)
            for name, figure in zip(columns, figures, strict=True)
        ],
        rows=[
            [_shown(cell, name) for cell, name in zip(row, columns, strict=True)]
            for row in rows[:MOST_ROWS]
        ],
        more=f"and {left:,} more rows" if left > 0 else "",
    )


def _is_figure(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _shown(cell: Cell, column: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int) and column in ADDRESSES:
        return f"{cell:#x}"
    if isinstance(cell, int) and column not in PLAIN:
        return f"{cell:,}"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
