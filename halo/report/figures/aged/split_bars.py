"""A panel for each configuration: time inside and outside the allocator, over occupancy."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import SubFigure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from halo.report.figures.aged.heaps import Heaps
from halo.report.figures.aged.looks import Look
from halo.report.figures.drawing.style import INK, style_axes

ACROSS = 4
"""Panels in a row."""
FAINT = 0.3
"""Share of its colour in the bar of the time outside; the rest is white."""
LONGEST = 22
"""Maximum letters in a line of a panel's name."""
BAR = 0.72


@dataclass(frozen=True)
class BarStack:
    """The median of a level in its parts; `inside` is None if the parts are unknown."""

    place: int
    whole: float
    inside: float | None


def stacks_of(heaps: Heaps) -> dict[str, list[BarStack]]:
    """Stacks by label, of configurations with known parts at some level.

    Parts are shares of the plotted median, in its unit.
    """
    found = {}
    for series in heaps.series:
        stacks = []
        for place, (level, value) in enumerate(zip(heaps.aged.levels, series.values, strict=True)):
            if value is not None:
                split = level.split.get(series.label)
                inside = value.value * split.inside if split else None
                stacks.append(BarStack(place, value.value, inside))
        if any(stack.inside is not None for stack in stacks):
            found[series.label] = stacks
    return found


def rows_of(panels: int) -> int:
    """Rows of small panels."""
    return -(-panels // ACROSS)


def draw_split(
    drawing: SubFigure,
    heaps: Heaps,
    stacks: Mapping[str, Sequence[BarStack]],
    axis: str,
    looks: Mapping[str, Look],
) -> None:
    """Draws one program's panels, with a legend of dark and light above them."""
    names = [level.name for level in heaps.aged.levels]
    grid = drawing.subplots(rows_of(len(stacks)), ACROSS, squeeze=False, sharey=True)
    for axes, (label, mine) in zip(grid.flat, stacks.items(), strict=False):
        _draw_panel(axes, mine, looks[label].colour)
        axes.set_xticks(range(len(names)), names, rotation=90, fontsize=7.5)
        axes.set_xlim(-0.6, len(names) - 0.4)
        axes.set_title(textwrap.fill(label, LONGEST), fontsize=8)
    for axes in grid.flat[len(stacks) :]:
        axes.set_visible(False)
    drawing.supylabel(axis, fontsize=8.5)
    unknown = any(stack.inside is None for mine in stacks.values() for stack in mine)
    drawing.legend(
        handles=_meanings(unknown),
        title=f"{heaps.program}: inside the allocator and outside, over occupancy",
        title_fontsize=9.5,
        alignment="left",
        loc="outside upper left",
        ncols=3,
        frameon=False,
        fontsize=8,
    )


def _draw_panel(axes: Axes, stacks: Sequence[BarStack], colour: str) -> None:
    style_axes(axes)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]))
    for stack in stacks:
        if stack.inside is None:
            axes.bar(stack.place, stack.whole, BAR, color="none", edgecolor=colour, linestyle=":")
            continue
        outside = stack.whole - stack.inside
        axes.bar(stack.place, stack.inside, BAR, color=colour)
        axes.bar(stack.place, outside, BAR, bottom=stack.inside, color=faint(colour))


def faint(colour: str) -> tuple[float, float, float]:
    """The colour mixed with white; opaque, so that it hides grid lines."""
    red, green, blue = (1 - FAINT * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def _meanings(unknown: bool) -> list[Patch]:
    patches = [
        Patch(color=INK, label="inside the allocator"),
        Patch(color=faint(INK), label="outside"),
    ]
    if unknown:
        not_known = Patch(facecolor="none", edgecolor=INK, linestyle=":", label="not sampled")
        patches.append(not_known)
    return patches
