"""A panel of a value over occupancy: the clean heap first, then falling occupancy."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from halo.report.figures.aged.heaps import Heaps
from halo.report.figures.aged.looks import Look
from halo.report.figures.drawing.style import INK, style_axes
from halo.report.results.aged_metrics import AgedSeries
from halo.report.results.metrics import Metric, neutral

APART = 0.09
"""Offset between configurations, so that no quartile bar hides another; levels are 1 apart."""
WIDEST = 0.66
"""Width of all configurations at one level."""
UPRIGHT = 7
"""Maximum levels with horizontal names in the narrowest panel; names of more are rotated."""


def draw_lines(axes: Axes, heaps: Heaps, looks: Mapping[str, Look], metric: Metric) -> None:
    """Draws a line with quartiles for each configuration, and a transform's neutral value."""
    style_axes(axes)
    count = len(heaps.series)
    step = min(APART, WIDEST / count)
    if metric.transform:
        axes.axhline(neutral(metric), color=INK, linestyle="--", linewidth=0.9, zorder=1)
    for number, series in enumerate(heaps.series):
        _draw_line(axes, series, looks[series.label], (number - (count - 1) / 2) * step)
    names = [level.name for level in heaps.aged.levels]
    if len(names) > 1:
        axes.axvline(0.5, color="#BBBBBB", linewidth=0.9, zorder=0)
    axes.set_xticks(range(len(names)), names, rotation=90 if len(names) > UPRIGHT else 0)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xlabel("occupancy (more holes to the right)", fontsize=8.5)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
    axes.margins(y=0.08)
    axes.set_title(heaps.program, fontsize=10)


def _draw_line(axes: Axes, series: AgedSeries, look: Look, offset: float) -> None:
    found = [(place, value) for place, value in enumerate(series.values) if value is not None]
    axes.errorbar(
        [place + offset for place, _ in found],
        [value.value for _, value in found],
        yerr=[
            [value.value - value.low for _, value in found],
            [value.high - value.value for _, value in found],
        ],
        color=look.colour,
        marker=look.marker,
        linestyle=look.line,
        markersize=4.5,
        linewidth=1.2,
        elinewidth=0.9,
        capsize=2,
        label=series.label,
    )
