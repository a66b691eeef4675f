"""`sets`: how the hot lines of a program are spread over the sets, under several layouts."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from halo.base.errors import BadInput
from halo.record.profile.sections.conflicts import SLOTS
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.panels import finish_panels
from halo.report.figures.drawing.style import COLOURS, GREY, INK, canvas, footnote, save, style_axes
from halo.studies.layouts.results import Layouts, read_layouts

COLUMNS = 2
PANEL = (3.6, 1.7)
"""Inches."""
LINES: Sequence[Literal["-", "--", "-."]] = ("-", "--", "-.")


class SetsFigure:
    name = "sets"
    summary = "hot lines by set of the first cache, under several layouts of the heap"
    endings = IMAGES
    accepts = ("configurations",)

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        found = read_layouts(paths, options.configs)
        names = list(found[0].runs)
        if any(list(one.runs) != names for one in found):
            raise BadInput(
                "The folders have different layouts; choose those that all have with"
                " --configurations."
            )
        columns = min(COLUMNS, len(found))
        rows = -(-len(found) // columns)
        width = max(5.6, PANEL[0] * columns)
        with canvas(width, PANEL[1] * rows + 1.2) as drawing:
            grid = drawing.subplots(rows, columns, squeeze=False, sharex=True)
            for axes, one in zip(grid.flat, found, strict=False):
                draw_panel(axes, one)
            finish_panels(grid, len(found), "slot of the first cache")
            drawing.legend(
                handles=_meanings(names),
                title="Hot lines by slot",
                title_fontsize=11,
                alignment="left",
                loc="outside upper left",
                ncols=len(names) + 1,
                frameon=False,
                fontsize=8.5,
            )
            footnote(drawing, textwrap.fill(_note(found[0]), int(width * 16)))
            return save(drawing, ending)


def draw_panel(axes: Axes, one: Layouts) -> None:
    """A line for each layout; the first is filled. A dotted one is the number that slots hold."""
    style_axes(axes)
    for number, (name, run) in enumerate(one.runs.items()):
        if run.hot_lines is None or len(run.hot_lines.by_slot) != SLOTS:
            raise BadInput(
                f"{one.path}/{name}.json has no hot lines; simulate the program with --classes, by"
                " this version of halo."
            )
        axes.stairs(
            run.hot_lines.by_slot,
            fill=number == 0,
            color=_colour(number),
            linestyle=LINES[(number - 1) % len(LINES)],
            linewidth=1.3,
        )
    axes.axhline(held(one), color=INK, linestyle=":", linewidth=1)
    axes.set_xlim(0, SLOTS)
    axes.set_xticks(range(0, SLOTS + 1, 8))
    axes.set_ylim(bottom=0)
    axes.set_title(one.program, fontsize=10, loc="left")


def held(one: Layouts) -> float:
    """The lines that a slot of the first cache holds."""
    cache = one.machine.caches[0]
    return cache.ways * cache.sets / SLOTS


def _colour(number: int) -> str:
    return GREY if number == 0 else COLOURS[(number - 1) % len(COLOURS)]


def _meanings(names: Sequence[str]) -> list[Line2D]:
    """The first layout's line is thick, as its area is filled."""
    lines = [
        Line2D(
            [],
            [],
            color=_colour(number),
            linestyle=LINES[(number - 1) % len(LINES)] if number else "-",
            linewidth=1.3 if number else 7,
            label=name,
        )
        for number, name in enumerate(names)
    ]
    return [*lines, Line2D([], [], color=INK, linestyle=":", linewidth=1, label="lines it holds")]


def _note(one: Layouts) -> str:
    cache = one.machine.caches[0]
    return (
        f"{cache.name} of {cache.sets} sets x {cache.ways} ways; a slot is a 64th of the sets. Hot"
        " lines: the fewest with nine tenths of the uses, of all memory; uses of the line used last"
        " do not count. One simulated run of each layout."
    )
