"""`occupancy`: time over occupancy on clean and aged heaps, and its part inside the allocator."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.artist import Artist
from matplotlib.figure import Figure as Canvas
from matplotlib.figure import SubFigure

from halo.report.figures.aged.heaps import (
    Heaps,
    baseline_note,
    configs_of,
    litter_note,
    programs_note,
    read_heaps,
)
from halo.report.figures.aged.looks import Look, looks_of
from halo.report.figures.aged.occupancy_lines import draw_lines
from halo.report.figures.aged.split_bars import BarStack, draw_split, rows_of, stacks_of
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.style import canvas, footnote, save
from halo.report.results.aged_metrics import aged_simulated, own_allocator
from halo.report.results.metrics import Metric, axis_title, parse_metric

METRIC = "time@relative"
SPLIT = ("time", "time@relative")
"""The metrics with known parts inside and outside the allocator."""
TIMED = ("time", "user", "system")
"""The events counted from the program's start; all others are of the whole process."""
COLUMNS = 2
WIDTH = 7.6
LINES = 3.0
HEADING, SMALL = 0.75, 1.45
LEGEND_COLUMNS = 4
HANDLE, LETTER = 0.6, 0.073
"""Inches of a legend's line and of a letter."""

Part = tuple[Heaps, Mapping[str, Sequence[BarStack]]]
"""A program and the stacked bars of its configurations."""


class OccupancyFigure:
    name = "occupancy"
    summary = "a metric (default time@relative) on clean and aged heaps, by occupancy"
    endings = IMAGES
    accepts = ("metric", "configurations", "baseline")

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        metric = parse_metric(options.metric or METRIC)
        all_heaps = read_heaps(paths, metric, options)
        looks = looks_of(all_heaps)
        parts = _parts(all_heaps, metric)
        columns = min(COLUMNS, len(all_heaps))
        heights = [LINES * -(-len(all_heaps) // columns)]
        heights += [HEADING + SMALL * rows_of(len(stacks)) for _, stacks in parts]
        legend = 0.5 + 0.2 * -(-len(looks) // legend_columns(list(looks)))
        note = textwrap.fill(_note(all_heaps, metric, parts), int(WIDTH * 16))
        height = sum(heights) + legend + 0.15 * (note.count("\n") + 1)
        with canvas(WIDTH, height) as drawing:
            blocks = drawing.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)
            _draw_programs(blocks[0, 0], all_heaps, looks, metric, columns)
            for block, (heaps, stacks) in zip(blocks[1:, 0], parts, strict=True):
                draw_split(block, heaps, stacks, axis_title(metric), looks)
            _draw_legend(drawing, blocks[0, 0], all_heaps)
            footnote(drawing, note)
            return save(drawing, ending)


def _parts(all_heaps: Sequence[Heaps], metric: Metric) -> list[Part]:
    """The programs with samples of the allocator's share; none for other metrics than time."""
    if str(metric) not in SPLIT:
        return []
    found = [(heaps, stacks_of(heaps)) for heaps in all_heaps]
    return [(heaps, stacks) for heaps, stacks in found if stacks]


def _draw_programs(
    block: SubFigure,
    all_heaps: Sequence[Heaps],
    looks: Mapping[str, Look],
    metric: Metric,
    columns: int,
) -> None:
    rows = -(-len(all_heaps) // columns)
    grid = block.subplots(rows, columns, squeeze=False)
    for axes, heaps in zip(grid.flat, all_heaps, strict=False):
        draw_lines(axes, heaps, looks, metric)
    for axes in grid.flat[len(all_heaps) :]:
        axes.set_visible(False)
    block.supylabel(axis_title(metric), fontsize=9)


def _draw_legend(drawing: Canvas, block: SubFigure, all_heaps: Sequence[Heaps]) -> None:
    """Draws every configuration once, including those that some programs lack."""
    handles: dict[str, Artist] = {}
    for axes in block.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    labels = configs_of(all_heaps)
    drawing.legend(
        [handles[label] for label in labels],
        labels,
        title="Clean and aged heaps",
        title_fontsize=11,
        alignment="left",
        loc="outside upper left",
        ncols=legend_columns(labels),
        frameon=False,
        fontsize=8.5,
    )


def legend_columns(labels: Sequence[str]) -> int:
    """The number of columns that fit the figure's width; labels are filled in by column."""
    for columns in range(min(LEGEND_COLUMNS, len(labels)), 1, -1):
        rows = -(-len(labels) // columns)
        lengths = [max(map(len, labels[at : at + rows])) for at in range(0, len(labels), rows)]
        if sum(HANDLE + LETTER * length for length in lengths) <= WIDTH:
            return columns
    return 1


def _note(all_heaps: Sequence[Heaps], metric: Metric, parts: Sequence[Part]) -> str:
    """The footnote: baseline, error bars, litter, positions, missing parts, machine."""
    simulated = metric.event in aged_simulated(all_heaps[0].aged)
    said = [f"{metric}, {'one run each' if simulated else 'medians'}"]
    if metric.transform:
        said.append(baseline_note(all_heaps))
    said.append(programs_note(all_heaps))
    if not simulated:
        said.append("error bars: quartiles")
    said.append(litter_note(all_heaps))
    said.append("occupancy: the part of the litter that is kept, at even distances")
    said.append(_scope_note(all_heaps, metric))
    said.append(_parts_note(all_heaps, metric, parts))
    return (
        f"{'; '.join(part for part in said if part)}. Machine: {all_heaps[0].measurement.machine}."
    )


def _scope_note(all_heaps: Sequence[Heaps], metric: Metric) -> str:
    if metric.event in TIMED:
        return ""
    if metric.event in aged_simulated(all_heaps[0].aged):
        return "simulated from the program's start, with cold caches"
    return "of the whole process, littering included"


def _parts_note(all_heaps: Sequence[Heaps], metric: Metric, parts: Sequence[Part]) -> str:
    if str(metric) not in SPLIT:
        return ""
    drawn = [heaps.program for heaps, _ in parts]
    lacking = [heaps.program for heaps in all_heaps if heaps.program not in drawn]
    if not lacking:
        own = any(own_allocator(heaps.aged) in stacks for heaps, stacks in parts)
        minimum = min(
            split.samples
            for heaps, stacks in parts
            for level in heaps.aged.levels
            for label, split in level.split.items()
            if label in stacks
        )
        outside = "; a custom allocator's own code is outside" if own else ""
        library = "inside the allocator: samples in its library, glibc's being all of libc"
        return f"{library}{outside}; samples of a bar: {minimum} or more"
    of_whom = f" of {', '.join(lacking)}" if drawn else ""
    return f"no samples{of_whom} of the time inside the allocator"
