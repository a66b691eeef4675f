"""Renders an answer for the terminal: a table and findings."""

from __future__ import annotations

from halo.base.console.terminal import (
    TextColumn,
    TextGrid,
    TextRow,
    make_console,
    show_grid,
    show_prose,
)
from halo.studies.tracing.analyses.analysis import Analysis, Table, Value
from halo.studies.tracing.analyses.runner import Answer


def show_answer(analysis: Analysis, answer: Answer) -> None:
    """Prints the table, the findings and remarks on the trace to stdout."""
    console = make_console()
    show_grid(console, grid_of(analysis.rendered(answer.report), title_of(analysis, answer)))
    for sentence in (*answer.findings, *remarks(answer)):
        show_prose(console, sentence)


def title_of(analysis: Analysis, answer: Answer) -> str:
    """The title of the table: the analysis, the program and the number of events."""
    if answer.about.ending == "running":
        return f"{analysis.name}, so far"
    return f"{analysis.name} of {answer.about.program}, {answer.about.events:,} events"


def grid_of(table: Table, title: str) -> TextGrid:
    """The table as a grid: integers right-aligned with commas; names may break between words."""
    fields = [
        TextColumn(name, figures=(figures := _is_figures(table, at)), prose=not figures)
        for at, name in enumerate(table.columns)
    ]
    return TextGrid(fields, [TextRow([_text(value) for value in row]) for row in table.rows], title)


def _is_figures(table: Table, at: int) -> bool:
    return all(isinstance(row[at], int) for row in table.rows)


def _text(value: Value) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def remarks(answer: Answer) -> list[str]:
    """Limits of the answer: no rows, lost events, an incomplete trace."""
    found = []
    if not answer.report.rows:
        found.append(f"{answer.analysis}: nothing found.")
    about = answer.about
    if about.lost:
        found.append(f"warning: {about.lost:,} events were lost.")
    if about.ending not in ("complete", "running"):
        found.append(f"warning: the trace is not whole ({about.ending}). {about.detail}".rstrip())
    return found
