"""An analysis of a trace on the page, as plain data: charts, a table, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.report.bars import Bars, Row, chart
from halo.report.numbers import number
from halo.results.analysis import AnalysisResult, Cell
from halo.results.split import FieldWeight, SplitClass, split_classes_of

TITLES = {
    "offenders": "Cache offenders",
    "sharing": "Variables shared by threads",
    "split": "Structure splitting",
}
MOST_ROWS = 200
MOST_BARS = 12
MOST_FIELD_BARS = 40
MISSES, ACCESSES = "last_missed", "accesses"


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


@dataclass(frozen=True)
class AnalysisSection:
    """All that the template shows of an analysis."""

    anchor: str
    title: str
    program: str
    findings: Sequence[str]
    blocks: Sequence[Block]


def analysis_section(result: AnalysisResult, index: int) -> AnalysisSection:
    """An analysis that the page does not know is a table. BadInput where a part is damaged."""
    if result.analysis == "split":
        blocks = [_split_block(found) for found in split_classes_of(result)]
    else:
        blocks = [Block(chart=ranking(result), table=grid(result.columns, result.rows))]
    return AnalysisSection(
        anchor=f"analysis-{index}",
        title=TITLES.get(result.analysis, result.analysis),
        program=result.program,
        findings=result.findings,
        blocks=blocks,
    )


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


def ranking(result: AnalysisResult) -> Bars | None:
    """The first rows by misses, or by accesses where none missed; None where neither is known."""
    for name, words in ((MISSES, "misses of the last level"), (ACCESSES, "accesses")):
        if name not in result.columns:
            continue
        at = result.columns.index(name)
        first = result.rows[:MOST_BARS]
        values = [(_label(result, row), _count(row[at])) for row in first]
        if any(value for _, value in values):
            bars = [Row(label, number(v), "halo", v, v, v) for label, v in values]
            return chart(f"{words}; the first {len(bars)} rows", bars)
    return None


def _label(result: AnalysisResult, row: Sequence[Cell]) -> str:
    """What a row speaks of: the variable, else the place in the source, else its first cell."""
    cells = dict(zip(result.columns, row, strict=True))
    place = f"{Path(str(cells['file'])).name}:{cells.get('line', '')}" if cells.get("file") else ""
    variable = cells.get("variable") or cells.get("function") or ""
    return f"{variable} {place}".strip() or str(row[0])


def _split_block(found: SplitClass) -> Block:
    sentences = [f"{found.bytes} bytes, {found.accesses:,} accesses, declared at {found.place}."]
    sentences.append(f"{(found.reason[:1].upper() + found.reason[1:]).rstrip('.')}.")
    columns = ("offset", "bytes", "field", "type", "accesses", "part")
    rows = [
        (f.offset, f.bytes, f.name or "nameless", f.type, f.accesses, _part(f))
        for f in found.fields
    ]
    return Block(
        title=found.label,
        sentences=[found.gain, *sentences] if found.gain else sentences,
        chart=_fields_chart(found),
        text=found.suggestion,
        table=grid(columns, rows),
        folded=f"The {len(rows)} fields",
    )


def _fields_chart(found: SplitClass) -> Bars | None:
    shown = found.fields
    if len(shown) > MOST_FIELD_BARS:
        most = sorted(shown, key=lambda field: -field.accesses)[:MOST_FIELD_BARS]
        shown = tuple(sorted(most, key=lambda field: field.offset))
    if not shown:
        return None
    total = max(found.accesses, 1)
    bars = []
    for field in shown:
        share = 100 * field.accesses / total
        text = f"{number(field.accesses)} {_part(field)}".strip()
        name = field.name or f"at {field.offset}"
        bars.append(Row(name, text, _part(field) or "unmarked", share, share, share))
    return chart("accesses to the field, per cent of the class's", bars)


def _part(field: FieldWeight) -> str:
    return "" if field.cold is None else "cold" if field.cold else "hot"


def _is_figure(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _count(cell: Cell) -> float:
    return max(float(cell), 0.0) if isinstance(cell, int | float) else 0.0


def _shown(cell: Cell, column: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int) and column not in ("line", "offset", "address", "bytes"):
        return f"{cell:,}"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
