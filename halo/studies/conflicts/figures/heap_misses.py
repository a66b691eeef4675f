"""`heap-misses`: the heap's share of accesses and of misses (Yardımcı and Kaeli, table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.bar_chart import BarGroup, Chart, draw_bars
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.report.results.metrics import Value
from halo.report.results.simulations import HeapSimulation, read_heap_simulations

TITLES = ("Program", "Heap accesses, %", "Heap misses, %", "Misses / accesses")
BARS = ("accesses", "misses of the first cache")


@dataclass(frozen=True)
class Shares:
    """Per cent of all accesses, and of all misses of the first cache, that are of the heap."""

    program: str
    accesses: float
    misses: float

    @property
    def ratio(self) -> float | None:
        return self.misses / self.accesses if self.accesses else None

    def cells(self) -> tuple[str, ...]:
        ratio = "-" if self.ratio is None else f"{self.ratio:.1f}"
        return self.program, f"{self.accesses:.1f}", f"{self.misses:.1f}", ratio


class HeapMissesFigure:
    name = "heap-misses"
    summary = "the heap's share of accesses and of misses (Yardımcı and Kaeli, table 1)"
    endings = (*IMAGES, *TABLES)
    accepts = ()

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        runs = read_heap_simulations(paths)
        rows = [shares_of(run) for run in runs]
        if ending in TABLES:
            records = [asdict(row) for row in rows]
            return Table(TITLES, [row.cells() for row in rows], records).to_file(ending)
        groups = [BarGroup(row.program, (_exact(row.accesses), _exact(row.misses))) for row in rows]
        cache = runs[0].document.machine.caches[0]
        note = (
            f"{cache.name} of {cache.sets} sets x {cache.ways} ways, lines of"
            f" {runs[0].document.machine.line} bytes. Heap: all objects; the rest is the stack,"
            " globals and the allocator's own data. One simulated run of each program."
        )
        return draw_bars(Chart("Share of the heap", "% of all", BARS, groups, note), ending)


def shares_of(run: HeapSimulation) -> Shares:
    """The shares of a run; 0 of nothing."""
    found, outside = run.document, run.document.outside
    first = found.machine.caches[0].name
    return Shares(
        run.program,
        _share(outside.accesses, found.accesses),
        _share(outside.misses[first], found.misses[first]),
    )


def _share(outside: int, whole: int) -> float:
    return 100 * (whole - outside) / whole if whole else 0.0


def _exact(value: float) -> Value:
    return Value(value, value, value)
