"""Tables and sentences that fit the terminal: no figure and no name is cut at any width."""

from __future__ import annotations

import io
import shutil
import textwrap
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleDimensions
from rich.table import Table
from rich.text import Text

UNBOUNDED = 10_000  # columns, where nothing has to fit
INDENT = "  "
READABLE = 16  # columns that prose needs at least

Cell = str | Text


@dataclass(frozen=True)
class Field:
    """A column: `figures` are aligned to the right, `prose` may be broken between words."""

    name: str
    figures: bool = False
    prose: bool = False


@dataclass(frozen=True)
class Row:
    """The cells of a row; `last` of several that belong together."""

    cells: Sequence[Cell]
    style: str = ""
    last: bool = False


@dataclass(frozen=True)
class Grid:
    """What a table shows, however wide the terminal is."""

    fields: Sequence[Field]
    rows: Sequence[Row]
    title: str = ""


class Terminal(Console):
    """A console on stdout or stderr whose closed pipe is a BrokenPipeError, as for `print`."""

    def on_broken_pipe(self) -> None:
        raise


def make_console(stderr: bool = False) -> Console:
    """As wide as the terminal; without bounds where the output goes elsewhere."""
    console = Terminal(stderr=stderr, highlight=False, markup=False)
    if not console.is_terminal:
        console.size = ConsoleDimensions(UNBOUNDED, console.height)
    elif console.is_dumb_terminal:  # of which rich does not ask the size
        console.size = ConsoleDimensions(*shutil.get_terminal_size())
    return console


def is_live(stream: TextIO) -> bool:
    """Whether a line can be drawn over there: not in a file, nor on a terminal without codes."""
    return stream.isatty() and not Console(file=stream).is_dumb_terminal


def show_grid(console: Console, grid: Grid) -> None:
    """As a table where all of it fits, else as records of `name: value`."""
    console.print()
    if grid.title:
        show_prose(console, grid.title)
    if not grid.rows:
        return
    widths = _widths(grid, console.width)
    if widths is not None:
        console.print(_table(grid, widths))
        return
    for row in grid.rows:
        _show_record(console, grid.fields, row)


def show_prose(console: Console, sentence: str, indent: str = "") -> None:
    """A sentence, broken between words; what is longer than a line is left to the terminal."""
    for line in wrap(sentence, console.width, indent):
        console.print(Text(line), soft_wrap=True)


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """The lines of a text that has to fit; words, paths and commands stay whole."""
    return textwrap.wrap(
        text,
        max(width, len(indent) + 1),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def _widths(grid: Grid, width: int) -> list[int] | None:
    """Of each column, so that prose shares what figures and names leave; None: it does not fit."""
    least, wanted = [], []
    for at, field in enumerate(grid.fields):
        cells = [_plain(row.cells[at]) for row in grid.rows]
        whole = _longest(cells, str.splitlines)
        shortest = max(_longest(cells, str.split), min(whole, READABLE)) if field.prose else whole
        least.append(max(shortest, _longest([field.name], str.split)))
        wanted.append(max(whole, least[-1], len(field.name)))
    spare = width - _natural_width(_table(grid, least))
    if spare < 0:
        return None
    for place, at in enumerate(order := sorted(range(len(least)), key=lambda at: wanted[at])):
        given = min(wanted[at] - least[at], spare // (len(order) - place))
        least[at] += given
        spare -= given
    return least


def _table(grid: Grid, widths: Sequence[int]) -> Table:
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


def _show_record(console: Console, fields: Sequence[Field], row: Row) -> None:
    """A line for each cell that says something, all but the first of them indented."""
    indent = ""
    for field, cell in zip(fields, row.cells, strict=True):
        value = " ".join(_plain(cell).split())
        if value:
            words = f"{field.name}: {value}" if field.name else value
            for line in wrap(words, console.width, indent + INDENT, indent):
                console.print(Text(line, row.style), soft_wrap=True)
            indent = INDENT
