"""The JSON of `halo sharing`, read back: lines, the places that touch them, and their threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from halo.results.analysis import AnalysisResult, Cell, detail
from halo.results.document import Damaged, count, text

NEEDED = (
    *("rank", "transfers", "line_accesses", "line_writes", "line_threads", "place", "sharing"),
    *("variable", "function", "file", "line", "line_offset", "bytes", "accesses", "writes"),
    *("threads", "uniform"),
)


@dataclass(frozen=True)
class SharedLine:
    """A cache line: the places in the source that touch it, and each thread's accesses to it."""

    transfers: int
    accesses: int
    writes: int
    threads: int
    truly: bool
    places: tuple[Mapping[str, Cell], ...]
    by_thread: Mapping[int, int]


def shared_lines_of(result: AnalysisResult) -> list[SharedLine]:
    """By rank, the worst first; BadInput where the document is damaged."""
    try:
        return _lines(result)
    except Damaged as error:
        raise result.damaged(error) from error


def _lines(result: AnalysisResult) -> list[SharedLine]:
    for name in NEEDED:
        result.column(name)
    places: dict[int, list[dict[str, Cell]]] = {}
    for row in result.dicts():
        places.setdefault(count(row["rank"], "rank"), []).append(row)
    threads: dict[int, dict[int, int]] = {}
    for row in detail(result, "threads", ("rank", "thread", "accesses")):
        of_line = threads.setdefault(count(row["rank"], "rank"), {})
        thread = count(row["thread"], "thread")
        of_line[thread] = of_line.get(thread, 0) + count(row["accesses"], "accesses")
    return [
        SharedLine(
            transfers=count(found[0]["transfers"], "transfers"),
            accesses=count(found[0]["line_accesses"], "line_accesses"),
            writes=count(found[0]["line_writes"], "line_writes"),
            threads=count(found[0]["line_threads"], "line_threads"),
            truly=text(found[0]["sharing"], "sharing") == "true",
            places=tuple(found),
            by_thread=threads.get(rank, {}),
        )
        for rank, found in sorted(places.items())
    ]
