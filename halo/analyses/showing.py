"""An answer for people: a table on the terminal, and what it means."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from halo.analyses.analysis import Analysis, Table, Value
from halo.analyses.running import Answer

WIDTH = 160  # where it does not go to a terminal


def show_answer(analysis: Analysis, answer: Answer) -> None:
    """The table, the findings and what is to be known of the trace, on stdout."""
    console = Console(soft_wrap=False)
    if not console.is_terminal:
        console = Console(width=WIDTH)
    console.print(rich_table(analysis.shown(answer.report), title_of(analysis, answer)))
    for sentence in (*answer.findings, *remarks(answer)):
        console.print(sentence, highlight=False, soft_wrap=True, markup=False)


def title_of(analysis: Analysis, answer: Answer) -> str:
    """What was analysed."""
    if answer.about.ending == "running":
        return f"{analysis.name}, so far"
    return f"{analysis.name} of {answer.about.program}, {answer.about.events:,} events"


def rich_table(table: Table, title: str) -> RichTable:
    """Integers to the right, with commas."""
    result = RichTable(title=Text(title), box=box.SIMPLE)
    for at, name in enumerate(table.columns):
        numbers = all(isinstance(row[at], int) for row in table.rows)
        result.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in table.rows:
        result.add_row(*(Text(_text(value)) for value in row))
    return result


def _text(value: Value) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def remarks(answer: Answer) -> list[str]:
    """What limits the answer: a trace that is not whole, or nothing to say."""
    found = []
    if not answer.report.rows:
        found.append(f"{answer.analysis}: nothing found.")
    about = answer.about
    if about.lost:
        found.append(f"warning: {about.lost:,} events were lost.")
    if about.ending not in ("complete", "running"):
        found.append(f"warning: the trace is not whole ({about.ending}). {about.detail}".rstrip())
    return found
