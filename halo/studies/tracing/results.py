"""What an analysis of a trace has found, read back from its JSON and checked."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halo.base.schema.document import Damaged, DocumentKind, convert, load, parse
from halo.base.schema.values import Cell, Number
from halo.studies.tracing.document import COMPLETE, FORMAT, VERSION, Analysis, Rows, Table

ANALYSIS = DocumentKind(
    FORMAT,
    VERSION,
    Analysis,
    name="of an analysis",
    give="give the JSON of one, as of `halo study trace split`",
    again="make the analysis again",
)
COUNTED = frozenset(
    {
        *("accesses", "writes", "first_missed", "last_missed", "tlb_missed", "permille", "rank"),
        *("transfers", "lines", "line_accesses", "line_writes", "line_threads", "threads"),
        *("thread", "line", "bytes", "owner_bytes"),
    }
)
"""Columns that count or number something, in the tables of the analyses that we know."""
KNOWN = ("offenders", "sharing", "split")
OPTIONAL_NUMBER: Any = Number | None


@dataclass(frozen=True)
class AnalysisResult:
    """The document in a file; its rows are lists."""

    path: Path
    document: Analysis

    @property
    def columns(self) -> Sequence[str]:
        return self.document.columns

    @property
    def rows(self) -> Sequence[Sequence[Cell]]:
        return [_cells(row, self.columns) for row in self.document.rows]

    @property
    def command(self) -> str:
        """The program with its arguments."""
        return shlex.join([self.document.program, *self.document.trace.arguments])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What of the trace is missing."""
        trace = self.document.trace
        ending = f"The trace is not whole ({trace.ending}). {trace.detail}".strip()
        lost = f"{trace.lost:,} events of the trace were lost."
        return (*[ending] * (trace.ending != COMPLETE), *[lost] * (trace.lost > 0))

    def dicts(self) -> list[dict[str, Cell]]:
        """Each row by the names of its columns."""
        return _dicts(self.columns, self.document.rows)

    def details(self, name: str) -> list[dict[str, Cell]]:
        """The same of a further table; no rows if it is not there."""
        found = self.document.details.get(name)
        return _dicts(found.columns, found.rows) if found else []


def read_analysis(path: Path) -> AnalysisResult:
    """The result in a file. `BadInput`, in one sentence, if it is none, newer or damaged."""
    return _checked(path, load(path, ANALYSIS))


def parse_analysis(content: str, path: Path) -> AnalysisResult:
    """The result in a document, which is or will be in the file of that name."""
    return _checked(path, parse(content, path, ANALYSIS))


def _checked(path: Path, document: Analysis) -> AnalysisResult:
    known = document.analysis in KNOWN
    try:
        _check_table(Table(document.columns, document.rows), "", known)
        for name, table in document.details.items():
            _check_table(table, f"details.{name}.", known)
    except Damaged as error:
        raise ANALYSIS.damaged(path, error) from error
    return AnalysisResult(path, document)


def _check_table(table: Table, where: str, known: bool) -> None:
    """Damaged if a row has other cells than the columns, or a count of a known analysis is none."""
    if len(set(table.columns)) != len(table.columns):
        raise Damaged(f"two {where}columns have the same name")
    for at, row in enumerate(table.rows):
        cells = _cells(row, table.columns)
        if len(cells) != len(table.columns):
            raise Damaged(
                f"{where}rows[{at}] has {len(cells)} cells for {len(table.columns)} columns"
            )
        for name, cell in zip(table.columns, cells, strict=True):
            if known and name in COUNTED:
                convert(cell, OPTIONAL_NUMBER, f"{where}{name}")


def _cells(row: Sequence[Cell] | Mapping[str, Cell], columns: Sequence[str]) -> Sequence[Cell]:
    """A row is a list in the order of the columns, or an object by their names."""
    return [row.get(name) for name in columns] if isinstance(row, Mapping) else row


def _dicts(columns: Sequence[str], rows: Rows) -> list[dict[str, Cell]]:
    return [dict(zip(columns, _cells(row, columns), strict=True)) for row in rows]
