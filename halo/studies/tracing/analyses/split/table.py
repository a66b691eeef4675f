"""Renders structure splitting for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from halo.base.console.terminal import TextColumn, TextGrid, TextRow, show_grid, show_prose
from halo.studies.tracing.analyses.split.document import COLD, PADDING, field_rows
from halo.studies.tracing.analyses.split.findings import findings, reason
from halo.studies.tracing.analyses.split.layout import per_line
from halo.studies.tracing.analyses.split.split import ClassSplit, SplitResult


def show_split(console: Console, result: SplitResult, chosen: Sequence[ClassSplit]) -> None:
    """Prints a table for each class and its parts, then the findings."""
    for found in chosen:
        show_grid(console, fields_table(found))
        show_prose(console, reason(found, result))
        if found.parts is not None:
            show_grid(console, parts_table(found))
            console.print(found.suggestion, soft_wrap=True)
    for sentence in findings(result, list(chosen)):
        show_prose(console, sentence)


def fields_table(found: ClassSplit) -> TextGrid:
    """The fields and the padding of a class."""
    declared = found.use.declared
    place = f"{declared.file}:{declared.line}" if declared.file else "place unknown"
    rows = []
    for _, name, type_, offset, size, accesses, share, part in field_rows(found):
        padding = part == PADDING
        cells = (
            str(offset),
            str(size),
            name,
            type_,
            "" if padding else f"{accesses:,}",
            "" if padding else f"{share:.1%}",
            part,
        )
        rows.append(TextRow(cells, "dim" if part in (COLD, PADDING) else ""))
    figures = ("offset", "bytes", "accesses", "share")
    names = ("offset", "bytes", "field", "type", "accesses", "share", "part")
    fields = [TextColumn(name, name in figures, prose=name in ("field", "type")) for name in names]
    title = f"{found.label}: {declared.bytes} bytes, {found.use.total:,} accesses, {place}"
    return TextGrid(fields, rows, title)


def parts_table(found: ClassSplit) -> TextGrid:
    """The class before splitting, and its hot part after."""
    assert found.parts is not None
    size, total = found.use.declared.bytes, max(found.use.total, 1)
    hot = found.parts.hot_bytes
    indirect = f"{found.indirect:,} ({found.indirect / total:.1%})"
    names = ("bytes", "in a line", "accesses through the pointer")
    return TextGrid(
        [TextColumn(""), *(TextColumn(name, figures=True) for name in names)],
        [
            TextRow(("before", str(size), f"{per_line(size):.2f}", "0")),
            TextRow(("after", str(hot), f"{per_line(hot):.2f}", indirect)),
        ],
    )
