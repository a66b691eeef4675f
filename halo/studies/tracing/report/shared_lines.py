"""Variables shared by threads on the page: the worst cache lines, and their use by thread."""

from __future__ import annotations

from collections.abc import Sequence

from halo.report.bars import BarRow, Bars, chart
from halo.report.blocks import Block, grid
from halo.report.numbers import number
from halo.studies.tracing.report.ranking import place_of, with_place
from halo.studies.tracing.results import AnalysisResult
from halo.studies.tracing.sharing import SharedLine, shared_lines_of

MAX_LINES = 10
MAX_THREADS = 16
COLUMNS = (
    "variable",
    "function",
    "place",
    "line_offset",
    "bytes",
    "accesses",
    "writes",
    "threads",
    "sharing",
    "uniform",
)


def sharing_blocks(result: AnalysisResult) -> list[Block]:
    """Transfers of all lines as bars, the worst lines one by one, and all as a table."""
    lines = shared_lines_of(result)
    overview = [Block(chart=_transfers(lines))] if lines else []
    everything = grid(result.columns, result.rows)
    table = Block(table=everything, folded="The whole table", title="All shared lines")
    return [*overview, *(_block(line) for line in lines[:MAX_LINES]), table]


def _block(line: SharedLine) -> Block:
    kind, of = "Truly shared" if line.truly else "Falsely shared", line.line
    rows = [[row.get(name) for name in COLUMNS] for row in map(with_place, map(dict, line.places))]
    return Block(
        title=place_of(dict(line.places[0])),
        sentences=[
            f"{kind}: {of.line_accesses:,} accesses of {of.line_threads} threads,"
            f" {of.line_writes:,} of them"
            f" writes; the line moved between threads up to {of.transfers:,} times."
        ],
        chart=_threads(line),
        table=grid(COLUMNS, rows),
    )


def _transfers(lines: Sequence[SharedLine]) -> Bars:
    bars = [
        BarRow(
            place_of(dict(line.places[0])),
            f"{number(line.line.transfers)} {'true' if line.truly else 'false'} sharing",
            "loss" if line.truly else "best",
            line.line.transfers,
            line.line.transfers,
            line.line.transfers,
        )
        for line in lines[:MAX_LINES]
    ]
    return chart("maximum number of transfers of the line between threads", bars)


def _threads(line: SharedLine) -> Bars | None:
    ranked = sorted(line.by_thread.items(), key=lambda item: (-item[1], item[0]))
    bars = [
        BarRow(f"thread {thread}", number(count), "halo", count, count, count)
        for thread, count in ranked[:MAX_THREADS]
    ]
    left = len(ranked) - len(bars)
    more = f"; {left} more threads" if left > 0 else ""
    return chart(f"accesses to the line by thread{more}", bars) if bars else None
