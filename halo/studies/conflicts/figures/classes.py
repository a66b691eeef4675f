"""`conflicts`: misses of the first cache by class, under several layouts of a program's heap."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from halo.base.errors import BadInput
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.style import (
    COLOURS,
    GREY,
    canvas,
    footnote,
    save,
    style_horizontal,
)
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.studies.layouts.results import Layouts, read_layouts

COLUMNS = 3
WIDTH = 3.0
"""Inches of a panel."""
HEAD, BAR = 0.65, 0.22
"""Inches of a panel without its bars, and of a bar."""
CLASSES = (
    ("conflict", COLOURS[0], ""),
    ("capacity", COLOURS[1], "////"),
    ("compulsory", GREY, "...."),
)


class ConflictsFigure:
    name = "conflicts"
    summary = "misses of the first cache by class, under several layouts of the heap"
    endings = (*IMAGES, *TABLES)
    accepts = ("configurations",)

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        found = read_layouts(paths, options.configs)
        return _table(found, ending) if ending in TABLES else _image(found, ending)


def _table(found: Sequence[Layouts], ending: str) -> bytes:
    """Thousands of conflict misses, and in brackets of all; records have all classes."""
    names = list(found[0].runs)
    if any(list(one.runs) != names for one in found):
        raise BadInput(
            "The folders have different layouts; choose those that all have with --configurations."
        )
    cells = [
        [
            one.program,
            *(
                f"{run.classes.conflict / 1000:,.0f} ({run.classes.misses / 1000:,.0f})"
                for run in one.runs.values()
            ),
        ]
        for one in found
    ]
    records = [
        {
            "program": one.program,
            "layout": name,
            "accesses": run.accesses,
            **{key: getattr(run.classes, key) for key, _, _ in CLASSES},
        }
        for one in found
        for name, run in one.runs.items()
    ]
    return Table(["Program", *names], cells, records).to_file(ending)


def _image(found: Sequence[Layouts], ending: str) -> bytes:
    columns = min(COLUMNS, len(found))
    rows = -(-len(found) // columns)
    width = max(5.6, WIDTH * columns)
    tallest = max(len(one.runs) for one in found)
    with canvas(width, rows * (HEAD + BAR * tallest) + 1.0) as drawing:
        grid = drawing.subplots(rows, columns, squeeze=False)
        for axes, one in zip(grid.flat, found, strict=False):
            draw_panel(axes, one)
        for axes in grid.flat[len(found) :]:
            axes.set_visible(False)
        drawing.legend(
            handles=[
                Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0, label=name)
                for name, colour, hatch in CLASSES
            ],
            title="Misses of the first cache, % of accesses",
            title_fontsize=11,
            alignment="left",
            loc="outside upper left",
            ncols=len(CLASSES),
            frameon=False,
            fontsize=8.5,
        )
        cache = found[0].machine.caches[0]
        note = (
            f"{cache.name} of {cache.sets} sets x {cache.ways} ways, lines of"
            f" {found[0].machine.line} bytes, without prefetching. One simulated run of each"
            " layout."
        )
        footnote(drawing, textwrap.fill(note, int(width * 16)))
        return save(drawing, ending)


def draw_panel(axes: Axes, one: Layouts) -> None:
    """A bar for each layout, divided by class."""
    style_horizontal(axes)
    runs = list(one.runs.values())
    left = [0.0] * len(runs)
    for name, colour, hatch in CLASSES:
        shares = [100 * getattr(run.classes, name) / max(1, run.accesses) for run in runs]
        axes.barh(
            range(len(runs)),
            shares,
            left=left,
            height=0.74,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
        )
        left = [start + share for start, share in zip(left, shares, strict=True)]
    axes.set_yticks(range(len(runs)), list(one.runs), fontsize=8.5)
    axes.set_ylim(len(runs) - 0.4, -0.6)
    axes.set_xlim(0, max(*left, 0.01) * 1.04)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    axes.set_title(one.program, fontsize=10, loc="left")
