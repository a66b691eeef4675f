"""Prints predictions: a row for each plan, relative to the program without a plan."""

from __future__ import annotations

from collections.abc import Mapping

from halo.base.console.terminal import (
    TextColumn,
    TextGrid,
    TextRow,
    make_console,
    show_grid,
    show_prose,
)
from halo.studies.search.document import LoadedTrace, Predicted


def show_predictions(
    trace: LoadedTrace, without: Predicted, plans: Mapping[str, Predicted]
) -> None:
    """Prints to stdout; `plans` are the predictions by the plans' names."""
    console = make_console()
    show_prose(console, f"{trace.kept:,} of {trace.accesses:,} accesses are replayed.")
    show_grid(
        console,
        TextGrid(
            [
                TextColumn("plan"),
                TextColumn("cycles", figures=True),
                *(TextColumn(level, figures=True) for level in without.misses),
                TextColumn("grouped", figures=True),
                TextColumn("pages, MB", figures=True),
            ],
            [_row(name, trace, one, without) for name, one in plans.items()],
            "Modelled cycles and misses, relative to those without a plan",
        ),
    )


def _row(name: str, trace: LoadedTrace, one: Predicted, without: Predicted) -> TextRow:
    figures = [_relative(one.cycles, without.cycles)]
    figures += [_relative(count, without.misses[level]) for level, count in one.misses.items()]
    return TextRow(
        (name, *figures, _relative(one.grouped, trace.objects), f"{one.peak_bytes / 1e6:.1f}")
    )


def _relative(count: int, before: int) -> str:
    return f"{count / before:.3f}" if before else "-"
