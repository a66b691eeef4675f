"""Prints tables and sentences within the terminal's width, without truncating any cell.

In a file or a pipe, which has no width, long names in tables are cut in the middle.
"""

from __future__ import annotations

import io
import shutil
import textwrap
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleDimensions
from rich.table import Table
from rich.text import Text

UNBOUNDED = 10_000  # columns, if the output is not a terminal
INDENT = "  "
READABLE = 16  # minimum columns of prose
PIPED_NAME, PIPED_PROSE = 80, 240  # characters of a line in a cell, if there is no terminal
CUT = "..."

Cell = str | Text


@dataclass(frozen=True)
class TextColumn:
    """A column: `figures` are aligned to the right, `prose` may be broken between words."""

    name: str
    figures: bool = False
    prose: bool = False


@dataclass(frozen=True)
class TextRow:
    """The cells of a row; `last` marks the end of a block of rows."""

    cells: Sequence[Cell]
    style: str = ""
    last: bool = False


@dataclass(frozen=True)
class TextGrid:
    """The content of a table, independent of the terminal's width."""

    fields: Sequence[TextColumn]
    rows: Sequence[TextRow]
    title: str = ""


class Terminal(Console):
    """A console on stdout or stderr that raises BrokenPipeError on a closed pipe, as `print`."""

    def on_broken_pipe(self) -> None:
        raise


def make_console(stderr: bool = False) -> Console:
    """A console as wide as the terminal; without bounds if the output is not a terminal."""
    console = Terminal(stderr=stderr, highlight=False, markup=False)
    if not console.is_terminal:
        console.size = ConsoleDimensions(UNBOUNDED, console.height)
    elif console.is_dumb_terminal:  # rich does not query its size
        console.size = ConsoleDimensions(*shutil.get_terminal_size())
    return console


def is_live(stream: TextIO) -> bool:
    """Whether lines can be overwritten: not in a file, nor on a terminal without escape codes."""
    return stream.isatty() and not Console(file=stream).is_dumb_terminal


def show_grid(console: Console, grid: TextGrid) -> None:
    """Prints a table if all of it fits, else records of `name: value`."""
    console.print()
    if grid.title:
        show_prose(console, grid.title)
    if not grid.rows:
        return
    if console.width >= UNBOUNDED:
        grid = _piped(grid)
    widths = _widths(grid, console.width)
    if widths is not None:
        console.print(_table(grid, widths))
        return
    for row in grid.rows:
        _show_record(console, grid.fields, row)


def show_prose(console: Console, sentence: str, indent: str = "") -> None:
    """Prints a sentence, broken between words; the terminal breaks longer words."""
    for line in wrap(sentence, console.width, indent):
        console.print(Text(line), soft_wrap=True)


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """The lines of a text within `width` columns; words, paths and commands stay whole."""
    return textwrap.wrap(
        text,
        max(width, len(indent) + 1),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def _piped(grid: TextGrid) -> TextGrid:
    """The table with long names cut in the middle; figures stay whole."""
    rows = [
        replace(row, cells=[_cut(*each) for each in zip(grid.fields, row.cells, strict=True)])
        for row in grid.rows
    ]
    return replace(grid, rows=rows)


def _cut(field: TextColumn, cell: Cell) -> Cell:
    """The cell with no line of more characters than its kind may have, and no such word."""
    if field.figures:
        return cell
    text = _plain(cell)
    lines = text.splitlines()
    if field.prose:
        words = (line.split(" ") for line in lines)
        lines = [" ".join(cut_middle(word, PIPED_NAME) for word in each) for each in words]
    most = PIPED_PROSE if field.prose else PIPED_NAME
    shown = "\n".join(cut_middle(line, most) for line in lines)
    if shown == text:
        return cell
    return Text(shown, cell.style) if isinstance(cell, Text) else shown


def cut_middle(text: str, most: int) -> str:
    """The text, or its beginning and its end if it has more than `most` characters."""
    if len(text) <= most:
        return text
    kept = most - len(CUT)
    return f"{text[: kept - kept // 2]}{CUT}{text[-(kept // 2) :]}"


def _widths(grid: TextGrid, width: int) -> list[int] | None:
    """Widths by column, if prose shares the rest beside figures and names; None: no fit."""
    minimum, wanted = [], []
    for at, field in enumerate(grid.fields):
        cells = [_plain(row.cells[at]) for row in grid.rows]
        whole = _longest(cells, str.splitlines)
        shortest = max(_longest(cells, str.split), min(whole, READABLE)) if field.prose else whole
        minimum.append(max(shortest, _longest([field.name], str.split)))
        if field.prose and width >= UNBOUNDED:
            whole = min(whole, PIPED_NAME)
        wanted.append(max(whole, minimum[-1], len(field.name)))
    spare = width - _natural_width(_table(grid, minimum))
    if spare < 0:
        return None
    for place, at in enumerate(order := sorted(range(len(minimum)), key=lambda at: wanted[at])):
        given = min(wanted[at] - minimum[at], spare // (len(order) - place))
        minimum[at] += given
        spare -= given
    return minimum


def _table(grid: TextGrid, widths: Sequence[int]) -> Table:
    """A rich table of exactly these columns."""
    table = Table(
        box=box.SIMPLE_HEAD,
        header_style="bold",
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for field, width in zip(grid.fields, widths, strict=True):
        table.add_column(
            Text("\n".join(wrap(field.name, width))),
            justify="right" if field.figures else "left",
            no_wrap=not field.prose,
            overflow="fold",
            width=width,
        )
    for row in grid.rows:
        cells = [cell if isinstance(cell, Text) else Text(cell) for cell in row.cells]
        table.add_row(*cells, style=row.style, end_section=row.last)
    return table


def _plain(cell: Cell) -> str:
    return cell.plain if isinstance(cell, Text) else cell


def _longest(texts: Collection[str], parts: Callable[[str], list[str]]) -> int:
    return max((cell_len(part) for text in texts for part in parts(text)), default=0)


def _natural_width(table: Table) -> int:
    found = io.StringIO()
    Console(file=found, width=UNBOUNDED, color_system=None).print(table)
    return max(cell_len(line) for line in found.getvalue().splitlines())


def _show_record(console: Console, fields: Sequence[TextColumn], row: TextRow) -> None:
    """Prints a line for each non-empty cell, all but the first of them indented.

    The lines of a cell of several, such as a stack, stay apart, below its name.
    """
    indent = ""
    for field, cell in zip(fields, row.cells, strict=True):
        for at, value in enumerate(values := _values(field, cell)):
            words = f"{field.name}: {value}" if field.name and len(values) == 1 else value
            if len(values) > 1 and not at:
                console.print(Text(f"{indent}{field.name}:", row.style), soft_wrap=True)
            deeper = indent + INDENT * (len(values) > 1)
            for line in wrap(words, console.width, deeper + INDENT, deeper):
                console.print(Text(line, row.style), soft_wrap=True)
        if values:
            indent = INDENT


def _values(field: TextColumn, cell: Cell) -> list[str]:
    """The lines of a cell; figures are one."""
    text = _plain(cell)
    lines = [text] if field.figures else text.splitlines()
    return [joined for line in lines if (joined := " ".join(line.split()))]
