"""`importance`: which fields predict the community (Miucin, figures 3.7, 3.8 and 3.14)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from halo.report.figures.drawing.style import (
    COLOURS,
    GREY,
    canvas,
    footnote,
    save,
    style_horizontal,
)
from halo.report.figures.drawing.table_files import Table
from halo.studies.hints.document import HintFeature
from halo.studies.hints.figures.figure import WIDTH, LearntFigure
from halo.studies.hints.results import LearntType

MAX_FEATURES = 8
NOISE = "noise"
KNOWN, UNKNOWN = COLOURS[0], COLOURS[1]
HEAD, BAR = 0.9, 0.22
"""Inches: of a type without its bars, and of a bar."""


def _shown(one: LearntType) -> list[HintFeature]:
    """The most important features by gini, and the noise column."""
    ranked = sorted(one.hint.features, key=lambda it: -it.gini)
    return [it for at, it in enumerate(ranked) if at < MAX_FEATURES or it.group == NOISE]


def _draw(shown: Sequence[LearntType], more: str, ending: str) -> bytes:
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
        note = (
            "Bars: gini importance, all of a type add up to 1. Numbers: accuracy that is lost if"
            " the column is permuted. Accuracies are of 5-fold cross validation."
            f"{more}"
        )
        footnote(drawing, textwrap.fill(note, int(WIDTH * 16)))
        return save(drawing, ending)


def _draw_type(axes: Axes, one: LearntType) -> None:
    style_horizontal(axes)
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


def _table(found: Sequence[LearntType]) -> Table:
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
    return Table(header, cells, records)


IMPORTANCE = LearntFigure(
    "importance",
    "how much each field predicts with what an object is used, by type",
    _draw,
    _table,
)
