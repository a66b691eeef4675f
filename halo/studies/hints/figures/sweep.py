"""`tidy-sweep`: a traversal by Tidy's buckets and cells (Miucin, figures 3.11 to 3.13)."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.style import COLOURS, INK, canvas, footnote, save, style_axes
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.studies.hints.figures.sweep_results import CYCLES, TIME, Sweep, read_sweeps, traversals
from halo.studies.hints.sweep_document import SweptTraversal

WIDTH = 7.6
PANEL = 2.3
"""Inches, of a row of panels."""
Look = tuple[str, Literal["-", "--"]]
"""The colour of a line, and whether it is dashed."""
MAX_DRAWN = 2.0
"""Lines leave the panel above it."""
NAMES = {CYCLES: "modelled cycles", TIME: "measured time"}


class TidySweepFigure:
    name = "tidy-sweep"
    summary = "misses and time of a traversal by size of Tidy's buckets and by number of cells"
    endings = (*IMAGES, *TABLES)
    accepts = ()

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        found = read_sweeps(paths)
        return _table(found).to_file(ending) if ending in TABLES else _draw(found, ending)


@dataclass(frozen=True)
class _Points:
    """Traversals along an axis; `name` is that of a row of the table, with the size put in."""

    axis: str
    placement: str
    name: str
    traversals: Sequence[SweptTraversal]

    @property
    def labels(self) -> list[str]:
        return [str(one.size) for one in self.traversals]


def _controls(one: Sweep) -> Sequence[tuple[str, SweptTraversal]]:
    """The traversals beside both sweeps."""
    return [("hints ignored", one.document.ignored), ("default", one.document.default)]


def _sweeps(one: Sweep) -> Sequence[_Points]:
    document = one.document
    return [
        _Points("bytes of a bucket", "buckets", "buckets of {} bytes", document.buckets),
        _Points("fixed cells", "cells", "{} fixed cells", document.cells),
    ]


def _look(found: Sequence[Sweep]) -> Mapping[str, Look]:
    """Of each event that matters in one of the programs."""
    events = found[0].relative(found[0].document.plain)
    looks: dict[str, Look] = {
        event: (COLOURS[at % len(COLOURS)], "-")
        for at, event in enumerate(events)
        if any(one.matters(event) for one in found)
    }
    own: dict[str, Look] = {CYCLES: (INK, "--"), TIME: (INK, "-")}
    return {event: own.get(event, look) for event, look in looks.items()}


def _draw(found: Sequence[Sweep], ending: str) -> bytes:
    looks = _look(found)
    with canvas(WIDTH, PANEL * len(found) + 1.2) as drawing:
        grid = drawing.subplots(len(found), 2, squeeze=False, sharey="row")
        for row, one in zip(grid, found, strict=True):
            for axes, points in zip(row, _sweeps(one), strict=True):
                _draw_panel(axes, one, points, looks)
            row[0].set_title(one.program, fontsize=10, loc="left")
        drawing.supylabel("traversal, objects from malloc = 1", fontsize=9)
        drawing.legend(
            handles=[
                Line2D([], [], color=colour, linestyle=line, label=NAMES.get(event, event))
                for event, (colour, line) in looks.items()
            ],
            loc="outside upper left",
            ncols=7,
            frameon=False,
            fontsize=8,
        )
        footnote(drawing, textwrap.fill(_note(found), int(WIDTH * 16)))
        return save(drawing, ending)


def _draw_panel(axes: Axes, one: Sweep, points: _Points, looks: Mapping[str, Look]) -> None:
    """The controls as points, and what is swept as lines."""
    style_axes(axes)
    controls = _controls(one)
    first, rest = range(len(controls)), range(len(controls), len(controls) + len(points.labels))
    beside = [one.relative(it) for _, it in controls]
    swept = [one.relative(it) for it in points.traversals]
    for event in filter(one.matters, looks):
        colour, line = looks[event]
        width = 1.8 if event == TIME else 1.1
        values = [it[event] for it in swept]
        axes.plot(rest, values, color=colour, linestyle=line, linewidth=width)
        axes.plot(first, [it[event] for it in beside], color=colour, linestyle="", marker="_")
    axes.axhline(1, color="#999999", linewidth=0.8)
    axes.set_ylim(0, 1.05 * min(MAX_DRAWN, _largest(one)))
    labels = [*("\n".join(label.split()) for label, _ in controls), *points.labels]
    axes.set_xticks([*first, *rest], labels, fontsize=7)
    axes.set_xlabel(points.axis, fontsize=8)


def _largest(one: Sweep) -> float:
    """Of all values that are drawn of a program."""
    drawn = (one.relative(it) for it in traversals(one.document))
    return max(at for values in drawn for event, at in values.items() if one.matters(event))


def _note(found: Sequence[Sweep]) -> str:
    first = found[0].document
    note = (
        f"Misses by level and their cost: simulated, machine {first.machine}. Buckets: with"
        " adaptive cells. Fixed cells: the thesis's grid, with buckets of 4096 bytes. Hints"
        " ignored: Tidy's memory without hints; default: the library as it is."
    )
    if any(_largest(one) > MAX_DRAWN for one in found):
        note += f" Values above {MAX_DRAWN:g} are not drawn."
    if found[0].is_timed:
        note += f" Times: medians, {len(first.plain.seconds)} rounds, {first.processor}."
    return note


def _table(found: Sequence[Sweep]) -> Table:
    rows = []
    for one in found:
        rows += [(one, label, label, it) for label, it in _controls(one)]
        for points in _sweeps(one):
            rows += [
                (one, points.name.format(it.size), points.placement, it) for it in points.traversals
            ]
    events = list(found[0].relative(found[0].document.plain))
    values = [one.relative(it) for one, _, _, it in rows]
    cells = [
        [
            one.program,
            name,
            *(f"{relative[it]:.2f}" if one.matters(it) else "-" for it in events),
        ]
        for (one, name, _, _), relative in zip(rows, values, strict=True)
    ]
    records = [
        {"program": one.program, "placement": placement, "size": it.size, **relative}
        for (one, _, placement, it), relative in zip(rows, values, strict=True)
    ]
    return Table(["Program", "Placement", *events], cells, records, names=2)
