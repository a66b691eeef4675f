"""The parts of a section about an analysis, as plain data: sentences, charts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halo.base.schema.values import Cell
from halo.report.bars import Bars

MAX_ROWS = 200
PLAIN = ("line", "offset", "bytes", "line_offset", "field_offset")
"""Columns of figures that are not counts, and have no thousands separators."""
ADDRESSES = ("address", "cache_line")


@dataclass(frozen=True)
class Column:
    """A column's name; columns of figures are right-aligned."""

    name: str
    figure: bool


@dataclass(frozen=True)
class Grid:
    """A table; `more` states the number of omitted rows."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    more: str


@dataclass(frozen=True)
class Block:
    """A part of a section; the page omits empty fields. `folded` is the title of a folded table."""

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
    left = len(rows) - MAX_ROWS
    return Grid(
        columns=[
            Column(name.replace("_", " "), figure)
            for name, figure in zip(columns, figures, strict=True)
        ],
        rows=[
            [_cell_text(cell, name) for cell, name in zip(row, columns, strict=True)]
            for row in rows[:MAX_ROWS]
        ],
        more=f"and {left:,} more rows" if left > 0 else "",
    )


def _is_figure(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _cell_text(cell: Cell, column: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int) and column in ADDRESSES:
        return f"{cell:#x}"
    if isinstance(cell, int) and column not in PLAIN:
        return f"{cell:,}"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
