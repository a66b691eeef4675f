"""What an analysis of a trace has found, read back from its JSON and checked."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from halo.errors import BadInput
from halo.results.document import Damaged, count, mapping, number, optional, rows, text

FORMAT, VERSION = "halo-analysis", 1
COMPLETE = "complete"
"""How a trace ends that has all of a run."""
BEGINNING = 4096
"""Letters of a damaged file among which its format is looked for."""

COUNTED = frozenset(
    {
        *("accesses", "writes", "first_missed", "last_missed", "tlb_missed", "permille", "rank"),
        *("transfers", "lines", "line_accesses", "line_writes", "line_threads", "threads"),
        *("thread", "line", "bytes", "owner_bytes"),
    }
)
"""Columns that count or number something, in the tables of the analyses that we know."""
KNOWN = ("offenders", "sharing", "split")

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class AnalysisResult:
    """A table of an analysis, and what it means in sentences.

    `command` is the program with its arguments; `warnings` say what of the trace is not there;
    `more` is the whole document.
    """

    path: Path
    analysis: str
    program: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    findings: tuple[str, ...]
    command: str
    warnings: tuple[str, ...]
    more: Mapping[str, Any] = field(repr=False)

    def damaged(self, error: Damaged) -> BadInput:
        """The refusal of a document of which a part is wrong."""
        return BadInput(f"{self.path} is damaged: {error}; make the analysis again.")

    def dicts(self) -> list[dict[str, Cell]]:
        """Each row by the names of its columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def column(self, name: str) -> int:
        """The number of a column that has to be there."""
        if name not in self.columns:
            raise Damaged(f"it has no column '{name}'")
        return self.columns.index(name)


def is_analysis(path: Path) -> bool:
    """Whether a file says that it is one, however damaged it may be; False if it cannot be read."""
    try:
        with path.open(encoding="utf-8") as file:
            return f'"{FORMAT}"' in file.read(BEGINNING)
    except (OSError, UnicodeDecodeError):
        return False


def read_analysis(path: Path) -> AnalysisResult:
    """The result in a file. `BadInput`, in one sentence, where it is none, newer or damaged."""
    try:
        return parse_analysis(path.read_text("utf-8"), path)
    except FileNotFoundError as error:
        raise BadInput(f"{path} does not exist; give the JSON of an analysis.") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(_foreign(path)) from error


def parse_analysis(content: str, path: Path) -> AnalysisResult:
    """The result in a document, which is or will be in the file of that name."""
    document = _load(content, path)
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise BadInput(
            f"{path} has version {version}, this halo reads up to {VERSION}; use the newer halo."
        )
    try:
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise Damaged("it has no version")
        return _result(document, path)
    except Damaged as error:
        raise BadInput(f"{path} is damaged: {error}; make the analysis again.") from error


def _load(content: str, path: Path) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        if f'"{FORMAT}"' in content[:BEGINNING]:
            raise BadInput(f"{path} is cut short or damaged; make the analysis again.") from error
        raise BadInput(_foreign(path)) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInput(_foreign(path))
    return document


def _foreign(path: Path) -> str:
    return f"{path} is not of an analysis; give what `halo split`, for instance, wrote with --json."


def _result(document: Mapping[str, Any], path: Path) -> AnalysisResult:
    columns, found = _table(document, "")
    analysis = text(document.get("analysis"), "analysis")
    if analysis in KNOWN:
        _check_counts(columns, found, "")
        _check_details(document)
    mapping(document.get("machine", {}), "machine")
    program = text(document.get("program"), "program")
    trace = mapping(document.get("trace", {}), "trace")
    arguments = [text(it, "arguments") for it in rows(trace.get("arguments", []), "arguments")]
    return AnalysisResult(
        path=path,
        analysis=analysis,
        program=program,
        columns=columns,
        rows=found,
        command=shlex.join([program, *arguments]),
        warnings=_warnings(trace),
        findings=tuple(
            text(it, "findings") for it in rows(document.get("findings", []), "findings")
        ),
        more=document,
    )


def _table(
    raw: Mapping[str, Any], where: str
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Columns and rows; `where` is what their names begin with in a refusal."""
    named = rows(raw.get("columns"), f"{where}columns")
    columns = tuple(text(it, f"{where}columns") for it in named)
    if not columns or len(set(columns)) != len(columns):
        raise Damaged(f"{where}columns are missing or have the same name")
    found = rows(raw.get("rows"), f"{where}rows")
    return columns, tuple(_row(it, columns, f"{where}rows[{at}]") for at, it in enumerate(found))


def _check_counts(columns: Sequence[str], found: Sequence[Sequence[Cell]], where: str) -> None:
    """Damaged where a column of counts holds something else; nothing stands for not known."""
    for at, name in enumerate(columns):
        if name in COUNTED:
            for row in found:
                optional(row[at], f"{where}{name}", number)


def _check_details(document: Mapping[str, Any]) -> None:
    for name, raw in mapping(document.get("details", {}), "details").items():
        where = f"details.{name}"
        columns, found = _table(mapping(raw, where), f"{where}.")
        _check_counts(columns, found, f"{where}.")


def _warnings(trace: Mapping[str, Any]) -> tuple[str, ...]:
    """What of the trace is missing."""
    count(trace.get("events", 0), "trace.events")
    lost = count(trace.get("lost", 0), "trace.lost")
    ending = text(trace.get("ending", COMPLETE), "trace.ending")
    told = text(trace.get("detail", ""), "trace.detail")
    found = [f"The trace is not whole ({ending}). {told}".strip()] if ending != COMPLETE else []
    return (*found, f"{lost:,} events of the trace were lost.") if lost else tuple(found)


def _row(raw: Any, columns: Sequence[str], what: str) -> tuple[Cell, ...]:
    """A row is a list in the order of the columns, or an object by their names."""
    cells = [raw.get(name) for name in columns] if isinstance(raw, dict) else rows(raw, what)
    if len(cells) != len(columns):
        raise Damaged(f"{what} has {len(cells)} cells for {len(columns)} columns")
    if any(isinstance(cell, list | dict) for cell in cells):
        raise Damaged(f"{what} holds more than texts and numbers")
    if any(isinstance(cell, float) and not math.isfinite(cell) for cell in cells):
        raise Damaged(f"{what} holds a number without end or meaning")
    return tuple(cells)


def section_of(document: AnalysisResult, name: str) -> list[dict[str, Any]]:
    """A list of objects in the document beside its table, as `classes`; empty where it is none."""
    found = rows(document.more.get(name, []), name)
    return [mapping(item, f"{name}[{at}]") for at, item in enumerate(found)]


def detail(document: AnalysisResult, name: str, needed: Sequence[str]) -> list[dict[str, Cell]]:
    """The rows of a further table of the document by their columns; none where it is not there."""
    raw = mapping(document.more.get("details", {}), "details").get(name)
    if raw is None:
        return []
    where = f"details.{name}."
    columns, found = _table(mapping(raw, f"details.{name}"), where)
    for column in needed:
        if column not in columns:
            raise Damaged(f"{where}columns lack '{column}'")
    return [dict(zip(columns, row, strict=True)) for row in found]
