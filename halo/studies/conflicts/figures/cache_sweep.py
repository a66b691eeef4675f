"""`cache-sweep`: miss rates of the heap and of all other memory (Yardımcı and Kaeli, figure 1)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from pathlib import Path
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from halo.base.errors import BadInput
from halo.base.schema.simulation import CacheSweep, SweptCache
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.panels import finish_panels
from halo.report.figures.drawing.style import COLOURS, INK, canvas, footnote, save, style_axes
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.report.results.simulations import HeapSimulation, read_heap_simulations

COLUMNS = 4
PANEL = (2.6, 2.2)
"""Inches."""
LOWEST = 0.001
"""Per cent; rates below it are drawn there."""
MARKERS = "os^D"
KINDS: Sequence[tuple[str, str, Literal["-", "--"]]] = (
    ("heap", COLOURS[0], "-"),
    ("all other memory", COLOURS[5], "--"),
)
TABLE_WAYS = 2


@dataclass(frozen=True)
class Swept:
    """A program's sweep."""

    program: str
    sweep: CacheSweep

    @property
    def ways(self) -> list[int]:
        return sorted({cache.ways for cache in self.sweep.caches})

    def of(self, ways: int) -> list[SweptCache]:
        """The caches with that many ways, by size."""
        found = (cache for cache in self.sweep.caches if cache.ways == ways)
        return sorted(found, key=lambda cache: cache.bytes)


class CacheSweepFigure:
    name = "cache-sweep"
    summary = "miss rates of the heap and of all other memory by cache size (figure 1)"
    endings = (*IMAGES, *TABLES)
    accepts = ()

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        found = [_swept(run) for run in read_heap_simulations(paths)]
        if len({tuple((it.bytes, it.ways) for it in one.sweep.caches) for one in found}) > 1:
            raise BadInput("The results are of sweeps over different caches; simulate them alike.")
        return _table(found, ending) if ending in TABLES else _image(found, ending)


def _swept(run: HeapSimulation) -> Swept:
    if run.document.sweep is None or not run.document.sweep.caches:
        raise BadInput(f"{run.path} has no sweep; simulate the program with --sweep.")
    return Swept(run.program, run.document.sweep)


def heap_share(cache: SweptCache) -> float:
    """Per cent of the misses that are of the heap; 0 of none."""
    return 100 * cache.heap / max(1, cache.heap + cache.outside)


def rates(sweep: CacheSweep, cache: SweptCache) -> tuple[float, float]:
    """Misses of the heap per cent of its accesses, and those of all other memory."""
    return 100 * cache.heap / max(1, sweep.heap), 100 * cache.outside / max(1, sweep.outside)


def _table(found: Sequence[Swept], ending: str) -> bytes:
    """The heap's share of the misses by size, with two ways; records have all caches."""
    sizes = [cache.bytes for cache in found[0].of(TABLE_WAYS)]
    cells = [
        [one.program, *(f"{heap_share(cache):.1f}" for cache in one.of(TABLE_WAYS))]
        for one in found
    ]
    records = [
        {
            "program": one.program,
            "bytes": cache.bytes,
            "ways": cache.ways,
            "heap_rate": rates(one.sweep, cache)[0],
            "outside_rate": rates(one.sweep, cache)[1],
            "heap_share": heap_share(cache),
        }
        for one in found
        for cache in one.sweep.caches
    ]
    titles = ["Program", *(f"{size >> 10} KiB" for size in sizes)]
    return Table(titles, cells, records).to_file(ending)


def _image(found: Sequence[Swept], ending: str) -> bytes:
    columns = min(COLUMNS, len(found))
    rows = -(-len(found) // columns)
    width = max(5.6, PANEL[0] * columns)
    with canvas(width, PANEL[1] * rows + 1.1) as drawing:
        grid = drawing.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        for axes, one in zip(grid.flat, found, strict=False):
            draw_panel(axes, one)
        finish_panels(grid, len(found), "cache size, KiB")
        lowest = _lowest(found)
        grid[0, 0].set_ylim(10 ** floor(log10(lowest)) / 1.2, 120)
        drawing.supylabel("misses, % of accesses", fontsize=9)
        drawing.legend(
            handles=_meanings(found[0].ways),
            title="Miss rates by cache size and ways",
            title_fontsize=11,
            alignment="left",
            loc="outside upper left",
            ncols=6,
            frameon=False,
            fontsize=8.5,
        )
        note = (
            f"Caches with LRU replacement and lines of {found[0].sweep.line} bytes, one simulated"
            " run of each program. Heap: all objects."
        )
        if lowest == LOWEST:
            note += f" Rates below {LOWEST} % are drawn there."
        footnote(drawing, textwrap.fill(note, int(width * 16)))
        return save(drawing, ending)


def draw_panel(axes: Axes, one: Swept) -> None:
    """The miss rates of one program: a line for each kind of memory and number of ways."""
    style_axes(axes)
    for number, ways in enumerate(one.ways):
        caches = one.of(ways)
        points = [rates(one.sweep, cache) for cache in caches]
        for kind, (_, colour, line) in enumerate(KINDS):
            axes.plot(
                range(len(caches)),
                [max(LOWEST, point[kind]) for point in points],
                color=colour,
                linestyle=line,
                linewidth=1.0,
                marker=MARKERS[number % len(MARKERS)],
                markersize=3.5,
                markerfacecolor=colour if kind == 0 else "white",
                markeredgewidth=0.8,
            )
    axes.set_yscale("log")
    labels = [f"{cache.bytes >> 10}" for cache in one.of(one.ways[0])]
    axes.set_xticks(range(len(labels)), labels, fontsize=7.5)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda rate, _: f"{rate:g}"))
    axes.minorticks_off()
    axes.set_title(one.program, fontsize=10, loc="left")


def _lowest(found: Sequence[Swept]) -> float:
    """The lowest rate that is drawn."""
    return min(
        max(LOWEST, rate)
        for one in found
        for cache in one.sweep.caches
        for rate in rates(one.sweep, cache)
    )


def _meanings(ways: Sequence[int]) -> list[Line2D]:
    kinds = [
        Line2D([], [], color=colour, linestyle=line, label=name) for name, colour, line in KINDS
    ]
    shapes = [
        Line2D(
            [],
            [],
            color=INK,
            linestyle="",
            marker=MARKERS[number % len(MARKERS)],
            markersize=4.5,
            label=f"{count} way{'s' if count > 1 else ''}",
        )
        for number, count in enumerate(ways)
    ]
    return [*kinds, *shapes]
