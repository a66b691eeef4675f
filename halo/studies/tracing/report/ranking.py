"""Cache offenders on the page: the first rows as bars, all as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halo.base.schema.values import Cell
from halo.report.bars import BarRow, Bars, chart
from halo.report.blocks import Block, grid
from halo.report.numbers import number, share
from halo.studies.tracing.results import AnalysisResult

MAX_BARS = 12
MEASURES = (
    ("cycles", "modelled cycles of the misses"),
    ("accesses", "accesses; no cache was simulated, or there were no misses"),
)


SHOWN = (
    *("variable", "function", "place", "accesses", "first_missed", "last_missed", "tlb_missed"),
    *("cycles", "of all cycles"),
)


def offender_blocks(result: AnalysisResult) -> list[Block]:
    """A table that fits the page, and a folded one with all columns."""
    rows = [with_place(row) for row in result.dicts()]
    for row in rows:
        if isinstance(row.get("permille"), int | float):
            row["of all cycles"] = share(_count(row["permille"]) / 1000)
    columns = [name for name in SHOWN if any(name in row for row in rows)]
    whole = grid(result.columns, result.rows)
    if not columns:
        return [Block(table=whole)]
    short = grid(columns, [[row.get(name) for name in columns] for row in rows])
    return [Block(chart=_chart(result), table=short), Block(table=whole, folded="All columns")]


def with_place(row: dict[str, Cell]) -> dict[str, Cell]:
    """The row with its file's name and its line in one cell, `place`."""
    file = row.get("file")
    return {**row, "place": f"{Path(str(file)).name}:{row.get('line') or '?'}" if file else ""}


def place_of(cells: dict[str, Cell]) -> str:
    """The subject of a row: its variable or function, and the place in the source."""
    name = cells.get("variable") or cells.get("function") or cells.get("type") or ""
    return f"{name} {with_place(cells)['place']}".strip() or "unknown"


def _chart(result: AnalysisResult) -> Bars | None:
    """Bars by the cost of misses, or by accesses if there are none; None without either."""
    rows = result.dicts()[:MAX_BARS]
    for name, words in MEASURES:
        values = [_count(row.get(name)) for row in rows]
        if any(values):
            return _bars(words, rows, values)
    return None


def _bars(words: str, rows: Sequence[dict[str, Cell]], values: Sequence[float]) -> Bars:
    bars = [
        BarRow(place_of(row), number(value), "halo", value, value, value)
        for row, value in zip(rows, values, strict=True)
    ]
    return chart(f"{words}; the first {len(bars)} rows", bars)


def _count(cell: Cell) -> float:
    return max(float(cell), 0.0) if isinstance(cell, int | float) else 0.0
