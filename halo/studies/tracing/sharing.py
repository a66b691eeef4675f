"""The lines that threads share, of the JSON of `halo study trace sharing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct

from halo.base.schema.document import Damaged, convert
from halo.base.schema.values import Cell, Count
from halo.studies.tracing.results import ANALYSIS, AnalysisResult


class LineRow(Struct, frozen=True):
    """The columns about a line; the others are about one place in it."""

    rank: Count
    transfers: Count
    line_accesses: Count
    line_writes: Count
    line_threads: Count
    sharing: str


class ThreadRow(Struct, frozen=True):
    """A thread's accesses to one place of a line."""

    rank: Count
    thread: Count
    accesses: Count


@dataclass(frozen=True)
class SharedLine:
    """A cache line: the places in the source that touch it, and each thread's accesses to it."""

    line: LineRow
    places: Sequence[Mapping[str, Cell]]
    by_thread: Mapping[int, int]

    @property
    def truly(self) -> bool:
        return self.line.sharing == "true"


def shared_lines_of(result: AnalysisResult) -> list[SharedLine]:
    """By rank, the worst first; BadInput if the document is damaged."""
    try:
        rows = convert(result.dicts(), list[LineRow], "rows")
        threads = convert(result.details("threads"), list[ThreadRow], "details.threads.rows")
    except Damaged as error:
        raise ANALYSIS.damaged(result.path, error) from error
    places: dict[int, list[tuple[LineRow, Mapping[str, Cell]]]] = {}
    for row, cells in zip(rows, result.dicts(), strict=True):
        places.setdefault(row.rank, []).append((row, cells))
    accesses: dict[int, dict[int, int]] = {}
    for it in threads:
        of_line = accesses.setdefault(it.rank, {})
        of_line[it.thread] = of_line.get(it.thread, 0) + it.accesses
    return [
        SharedLine(found[0][0], [cells for _, cells in found], accesses.get(rank, {}))
        for rank, found in sorted(places.items())
    ]
