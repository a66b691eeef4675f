"""Prints replayed layouts: what was traced, a row for each layout, and the verdict."""

from __future__ import annotations

from halo.base.console.terminal import (
    TextColumn,
    TextGrid,
    TextRow,
    make_console,
    show_grid,
    show_prose,
)
from halo.studies.layouts.document import Replayed, ReplayedLayout
from halo.studies.layouts.verdict import Verdict

CUT_SHORT = "The trace is cut short: the process was killed, or its disk was full."
BY_TYPE = "by-type"
NO_TYPES = "The trace has no types, so the order by-type is left out."


def show_layouts(replayed: Replayed, verdict: Verdict) -> None:
    """Prints to stdout; levels are relative to the recorded layout."""
    console = make_console()
    show_prose(console, opening(replayed))
    show_grid(console, layouts_table(replayed))
    console.print()
    if not replayed.complete:
        show_prose(console, CUT_SHORT)
    if replayed.graph.dropped:
        share = replayed.graph.dropped / max(1, replayed.graph.pairs)
        show_prose(
            console, f"The graph exceeded its memory: {share:.1%} of its weight is left out."
        )
    if all(one.order != BY_TYPE for one in replayed.replays):
        show_prose(console, NO_TYPES)
    show_prose(console, verdict.sentence)


def show_contexts(table: TextGrid) -> None:
    """Prints to stdout, behind the verdict."""
    show_grid(make_console(), table)


def opening(replayed: Replayed) -> str:
    """The objects, their accesses, and the communities by level."""
    levels = ", ".join(f"{count:,}" for count in replayed.communities) or "no"
    return (
        f"{replayed.objects:,} objects, of which {replayed.accessed_objects:,} are accessed;"
        f" {replayed.accesses:,} accesses, to at least {replayed.min_lines:,} lines if no memory is"
        " reused. The access"
        f" graph has {replayed.graph.edges:,} edges and"
        f" {levels} communities, from the finest level on."
    )


def layouts_table(replayed: Replayed) -> TextGrid:
    """One row for each layout: modelled cycles and misses, relative to those recorded."""
    recorded = replayed.replays[0]
    part = f" of {recorded.accesses:,} accesses in the phase" if replayed.phase else ""
    levels = list(recorded.misses)
    return TextGrid(
        [
            TextColumn("order"),
            TextColumn("packing"),
            TextColumn("cycles", figures=True),
            *(TextColumn(level, figures=True) for level in levels),
        ],
        [_row(one, recorded) for one in replayed.replays],
        f"Modelled cycles and misses{part}, relative to the recorded layout",
    )


def _row(one: ReplayedLayout, recorded: ReplayedLayout) -> TextRow:
    figures = [_relative(one.cycles, recorded.cycles)]
    figures += [_relative(count, recorded.misses[level]) for level, count in one.misses.items()]
    return TextRow((one.order, one.packing, *figures))


def _relative(count: int, recorded: int) -> str:
    return f"{count / recorded:.3f}" if recorded else "-"
