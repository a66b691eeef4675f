"""Structure splitting on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from halo.analyses.split import ClassSplit, SplitResult
from halo.analyses.split_document import COLD, PADDING, field_rows
from halo.analyses.split_layout import per_line
from halo.analyses.split_words import findings, reason


def show_split(console: Console, result: SplitResult, shown: Sequence[ClassSplit]) -> None:
    """A table for each class and what it would become; the findings last."""
    for found in shown:
        console.print(fields_table(found, result))
        if found.parts is not None:
            console.print(parts_table(found))
            console.print(found.suggestion, highlight=False, soft_wrap=True, markup=False)
    for sentence in findings(result, list(shown)):
        console.print(sentence, highlight=False, soft_wrap=True, markup=False)


def fields_table(found: ClassSplit, result: SplitResult) -> Table:
    """The fields and the padding of a class."""
    declared = found.use.declared
    place = f"{declared.file}:{declared.line}" if declared.file else "place not known"
    head = f"{found.label}: {declared.bytes} bytes, {found.use.total:,} accesses, {place}"
    table = Table(title=escape(head), caption=escape(reason(found, result)), title_justify="left")
    for column in ("offset", "bytes", "field", "type", "accesses", "share", "part"):
        figure = column in ("offset", "bytes", "accesses", "share")
        table.add_column(column, justify="right" if figure else "left")
    for _, name, type_, offset, size, accesses, share, part in field_rows(found):
        padding = part == PADDING
        table.add_row(
            str(offset),
            str(size),
            Text(name),
            Text(type_),
            "" if padding else f"{accesses:,}",
            "" if padding else f"{share:.1%}",
            part,
            style="dim" if part in (COLD, PADDING) else "",
        )
    return table


def parts_table(found: ClassSplit) -> Table:
    """The class before, and its hot part after."""
    assert found.parts is not None
    size, total = found.use.declared.bytes, max(found.use.total, 1)
    table = Table()
    for column in ("", "bytes", "in a line", "accesses through the pointer"):
        table.add_column(column, justify="right" if column else "left")
    table.add_row("before", str(size), f"{per_line(size):.2f}", "0")
    hot = found.parts.hot_bytes
    indirect = f"{found.indirect:,} ({found.indirect / total:.1%})"
    table.add_row("after", str(hot), f"{per_line(hot):.2f}", indirect)
    return table
