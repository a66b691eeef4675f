"""`importance`: which fields predict the community (Miucin, figures 3.7, 3.8 and 3.14)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from halo.figures.base import IMAGES, Options
from halo.figures.drawing.style import COLOURS, GREY, canvas, footnote, save, style_axes
from halo.figures.drawing.table_files import TABLES, Table
from halo.results.hints import LearntType, read_learnt
from halo.schema.hints import HintFeature

MAX_TYPES, MAX_FEATURES = 6, 8
NOISE = "noise"
KNOWN, UNKNOWN = COLOURS[0], COLOURS[1]
WIDTH = 6.4
HEAD, BAR = 0.9, 0.22
"""Inches: of a type without its bars, and of a bar."""


class ImportanceFigure:
    name = "importance"
    summary = "how much each field predicts with what an object is used, by type"
    endings = (*IMAGES, *TABLES)
    accepts = ("top",)

    def make(self, paths: Sequence[Path], options: Options, ending: str) -> bytes:
        found = read_learnt(paths)
        if ending in TABLES:
            return _table(found, ending)
        return _draw(found, options.top or MAX_TYPES, ending)


def _shown(one: LearntType) -> list[HintFeature]:
    """The most important features by gini, and the noise column."""
    ranked = sorted(one.hint.features, key=lambda it: -it.gini)
    return [it for at, it in enumerate(ranked) if at < MAX_FEATURES or it.group == NOISE]


def _draw(found: Sequence[LearntType], maximum: int, ending: str) -> bytes:
    shown = found[:maximum]
    heights = [HEAD + BAR * len(_shown(one)) for one in shown]
    with canvas(WIDTH, sum(heights) + 0.7) as drawing:
        grid = drawing.subplots(len(shown), 1, squeeze=False, height_ratios=heights)
        for axes, one in zip(grid.flat, shown, strict=True):
            _draw_type(axes, one)
        drawing.legend(
            handles=[
                Patch(color=KNOWN, label="known at birth"),
                Patch(color=UNKNOWN, label="not known at birth"),
                Patch(color=GREY, label="random numbers"),
            ],
            loc="outside upper left",
            ncols=3,
            frameon=False,
            fontsize=8,
        )
        more = len(found) - len(shown)
        note = (
            "Bars: gini importance, all of a type add up to 1. Numbers: accuracy that is lost if"
            " the column is permuted. Accuracies are of 5-fold cross validation."
            f"{f' {more} more types are not shown.' if more else ''}"
        )
        footnote(drawing, textwrap.fill(note, int(WIDTH * 16)))
        return save(drawing, ending)


def _draw_type(axes: Axes, one: LearntType) -> None:
    style_axes(axes)
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.7)
    axes.tick_params(axis="y", length=0)
    features = _shown(one)
    values = [it.gini for it in features]
    axes.barh(range(len(features)), values, height=0.74, color=[_colour(it) for it in features])
    for place, it in enumerate(features):
        axes.text(
            it.gini, place, f" {round(it.permutation, 2) + 0.0:.2f}", va="center", fontsize=7.5
        )
    axes.set_yticks(range(len(features)), [it.name for it in features])
    axes.set_ylim(len(features) - 0.4, -0.6)
    axes.set_xlim(0, max(*values, 0.01) * 1.16)
    accuracy = one.hint.accuracy
    assert accuracy is not None
    axes.set_title(
        f"{one.label}\n{accuracy.top1:.0%} predicted, {accuracy.top5:.0%} among the five likeliest"
        f" of {one.hint.classes} communities",
        fontsize=9,
        loc="left",
    )


def _colour(feature: HintFeature) -> str:
    return GREY if feature.group == NOISE else KNOWN if feature.at_birth else UNKNOWN


def _table(found: Sequence[LearntType], ending: str) -> bytes:
    rows = [(one, it) for one in found for it in _shown(one)]
    cells = [
        [
            one.program,
            one.hint.type,
            it.name,
            f"{it.gini:.3f}",
            f"{it.permutation:.3f}",
            "yes" if it.at_birth else f"{it.known_share:.0%}",
        ]
        for one, it in rows
    ]
    records = [
        {
            "program": one.program,
            "type": one.hint.type,
            "feature": it.name,
            "gini": it.gini,
            "permutation": it.permutation,
            "known_share": it.known_share,
        }
        for one, it in rows
    ]
    header = ["Program", "Type", "Feature", "Gini", "Permutation", "Known at birth"]
    return Table(header, cells, records).to_file(ending)
