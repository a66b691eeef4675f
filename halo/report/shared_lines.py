"""Variables shared by threads on the page: who shares a line, and how much each thread uses it."""

from __future__ import annotations

from collections.abc import Sequence

from halo.report.bars import Bars, Row, chart
from halo.report.blocks import Block, grid
from halo.report.numbers import number
from halo.report.ranking import place_of, with_place
from halo.results.analysis import AnalysisResult
from halo.results.sharing import SharedLine, shared_lines_of

MOST_LINES = 10
MOST_THREADS = 16
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
    """How often the lines moved, then the worst of them one by one, then all as a table."""
    lines = shared_lines_of(result)
    overview = [Block(chart=_transfers(lines))] if lines else []
    everything = grid(result.columns, result.rows)
    table = Block(table=everything, folded="The whole table", title="All shared lines")
    return [*overview, *(_block(line) for line in lines[:MOST_LINES]), table]


def _block(line: SharedLine) -> Block:
    kind = "Truly shared" if line.truly else "Falsely shared"
    rows = [[row[name] for name in COLUMNS] for row in map(with_place, map(dict, line.places))]
    return Block(
        title=place_of(dict(line.places[0])),
        sentences=[
            f"{kind}: {line.accesses:,} accesses of {line.threads} threads, {line.writes:,} of them"
            f" writes; the line moved between threads up to {line.transfers:,} times."
        ],
        chart=_threads(line),
        table=grid(COLUMNS, rows),
    )


def _transfers(lines: Sequence[SharedLine]) -> Bars:
    bars = [
        Row(
            place_of(dict(line.places[0])),
            f"{number(line.transfers)} {'true' if line.truly else 'false'} sharing",
            "loss" if line.truly else "best",
            line.transfers,
            line.transfers,
            line.transfers,
        )
        for line in lines[:MOST_LINES]
    ]
    return chart("how often at most the line went from one thread to another", bars)


def _threads(line: SharedLine) -> Bars | None:
    ranked = sorted(line.by_thread.items(), key=lambda item: (-item[1], item[0]))
    bars = [
        Row(f"thread {thread}", number(count), "halo", count, count, count)
        for thread, count in ranked[:MOST_THREADS]
    ]
    left = len(ranked) - len(bars)
    more = f"; {left} more threads" if left > 0 else ""
    return chart(f"accesses to the line by thread{more}", bars) if bars else None
