"""`footprint`: allocated, peak and final bytes of the heap (Yardımcı and Kaeli, table 2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import asdict

from halo.report.figures.base import FigureOptions
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.report.results.simulations import read_heap_simulations

TITLES = ("Program", "Objects", "Allocated (bytes)", "Peak (bytes)", "Final (bytes)")


class FootprintFigure:
    name = "footprint"
    summary = "bytes allocated, and live at the peak and at the end, as a table"
    endings = TABLES
    accepts = ()

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        rows = [(run.program, run.heap) for run in read_heap_simulations(paths)]
        cells = [
            [
                program,
                f"{heap.allocations:,}",
                f"{heap.bytes:,}",
                f"{heap.peak_live_bytes:,}",
                f"{heap.final_live_bytes:,}",
            ]
            for program, heap in rows
        ]
        records = [{"program": program, **asdict(heap)} for program, heap in rows]
        return Table(TITLES, cells, records).to_file(ending)
