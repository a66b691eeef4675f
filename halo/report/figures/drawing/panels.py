"""A grid of panels, of which the last row may be incomplete."""

from __future__ import annotations

from typing import Any


def finish_panels(grid: Any, count: int, label: str) -> None:
    """Hides the panels from number `count` on, and labels the x axis of the lowest ones.

    `grid` is matplotlib's array of axes, of shape rows by columns.
    """
    columns = grid.shape[1]
    for axes in grid.flat[count:]:
        axes.set_visible(False)
    for axes in grid.flat[max(0, count - columns) : count]:
        axes.tick_params(axis="x", labelbottom=True)
        axes.set_xlabel(label)
