"""Draws grouped bars: by program and configuration, with quartiles as error bars."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from halo.report.figures.drawing.style import INK, canvas, footnote, look, save, style_axes
from halo.report.results.metrics import Value

BAR = 0.17
"""Inches."""
NARROWEST_GROUP = 0.8
SMALLEST = (5.2, 3.7)
WIDEST = 12.0
ROW = 2.2


@dataclass(frozen=True)
class BarGroup:
    """One program: the label under its bars, and a value for each configuration."""

    name: str
    values: Sequence[Value]


@dataclass(frozen=True)
class Chart:
    """The data of a bar chart; `neutral` is the value of the baseline."""

    title: str
    axis: str
    configs: Sequence[str]
    groups: Sequence[BarGroup]
    note: str
    neutral: float = 0.0


def draw_bars(chart: Chart, ending: str) -> bytes:
    """The chart as the content of a file; many programs are in several rows."""
    slot = max(NARROWEST_GROUP, BAR * (len(chart.configs) + 1.5))
    across = min(len(chart.groups), max(1, int((WIDEST - 1.0) / slot)))
    rows = -(-len(chart.groups) // across)
    across = -(-len(chart.groups) // rows)
    width = max(SMALLEST[0], 1.0 + slot * across)
    columns = max(1, int(width / 1.9))
    legend = 0.2 * -(-len(chart.configs) // columns)
    height = SMALLEST[1] if rows == 1 else 1.2 + ROW * rows
    with canvas(width, height + legend) as drawing:
        grid = drawing.subplots(rows, 1, squeeze=False, sharey=True)
        for number, axes in enumerate(grid.flat):
            _draw_row(axes, chart, chart.groups[number * across : (number + 1) * across], slot)
            axes.set_xlim(-slot * 0.6, slot * (across - 0.4))
        drawing.supylabel(chart.axis, fontsize=9)
        drawing.legend(
            *grid[0, 0].get_legend_handles_labels(),
            title=chart.title,
            title_fontsize=11,
            alignment="left",
            loc="outside upper left",
            ncols=columns,
            frameon=False,
            fontsize=8.5,
            handlelength=1.4,
        )
        footnote(drawing, textwrap.fill(chart.note, int(width * 16)))
        return save(drawing, ending)


def _draw_row(axes: Axes, chart: Chart, groups: Sequence[BarGroup], slot: float) -> None:
    style_axes(axes)
    middle = (len(chart.configs) - 1) / 2
    for number, config in enumerate(chart.configs):
        colour, hatch = look(number)
        values = [group.values[number] for group in groups]
        places = [at * slot + (number - middle) * BAR for at in range(len(values))]
        axes.bar(
            places,
            [found.value - chart.neutral for found in values],
            width=BAR * 0.92,
            bottom=chart.neutral,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            label=config,
        )
        _draw_spread(axes, places, values)
    axes.axhline(chart.neutral, color=INK, linewidth=0.9)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
    axes.set_xticks([at * slot for at in range(len(groups))], [group.name for group in groups])


def _draw_spread(axes: Axes, places: Sequence[float], values: Sequence[Value]) -> None:
    """Draws error bars if there was more than one run."""
    spread = [(place, v) for place, v in zip(places, values, strict=True) if v.low < v.high]
    axes.errorbar(
        [place for place, _ in spread],
        [found.value for _, found in spread],
        yerr=[
            [found.value - found.low for _, found in spread],
            [found.high - found.value for _, found in spread],
        ],
        fmt="none",
        ecolor=INK,
        elinewidth=0.9,
        capsize=2,
        capthick=0.9,
    )
