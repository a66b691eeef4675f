"""`split`: the accesses to each field of the live classes, hot and cold (DINAMITE, figure 2.5)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from halo.base.errors import BadInput
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.style import canvas, footnote, save, style_horizontal
from halo.studies.tracing.results import AnalysisResult, read_analysis
from halo.studies.tracing.split import ClassWeights, FieldWeight, split_classes_of

HOT, COLD, UNMARKED = "#111111", "#A6A6A6", "#FFFFFF"
WIDTH = 6.4
HEAD = 0.75
"""Height in inches of a class without its bars, for its name and the axis."""
BAR = 0.22
MAX_CLASSES, MAX_FIELDS = 8, 40
LONGEST = 30
"""Maximum letters of a field's name."""


class SplitFigure:
    name = "split"
    summary = "accesses to the fields of live classes, hot ones black, cold ones grey"
    endings = IMAGES
    accepts = ("top",)

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        if len(paths) != 1:
            raise BadInput(
                "The figure split is of one trace; give one JSON file of halo study trace split."
            )
        return draw_split_classes(read_analysis(paths[0]), ending, options.top or MAX_CLASSES)


def draw_split_classes(result: AnalysisResult, ending: str, maximum: int = MAX_CLASSES) -> bytes:
    """The content of the figure: a panel for each class, split classes first."""
    classes = [found for found in split_classes_of(result) if found.fields]
    shown = sorted(classes, key=lambda it: not it.found.split)[:maximum]
    if not shown:
        raise BadInput(
            f"{result.path} has no live class, so there is nothing to draw;"
            " halo study trace split --all shows the others."
        )
    heights = [HEAD + BAR * len(_bars(found)) for found in shown]
    with canvas(WIDTH, sum(heights) + 0.6) as drawing:
        grid = drawing.subplots(len(shown), 1, squeeze=False, height_ratios=heights)
        for axes, found in zip(grid.flat, shown, strict=True):
            _draw_class(axes, found)
        drawing.legend(
            handles=_meanings(shown), loc="outside upper left", ncols=3, frameon=False, fontsize=8
        )
        footnote(drawing, textwrap.fill(_note(result, classes, shown), int(WIDTH * 16)))
        return save(drawing, ending)


def _bars(found: ClassWeights) -> list[FieldWeight]:
    """The fields in declared order; if there are too many, those with most accesses."""
    if len(found.fields) <= MAX_FIELDS:
        return list(found.fields)
    maximum = sorted(found.fields, key=lambda field: -field.accesses)[:MAX_FIELDS]
    return sorted(maximum, key=lambda field: field.offset)


def _draw_class(axes: Axes, weights: ClassWeights) -> None:
    found = weights.found
    style_horizontal(axes)
    bars = _bars(weights)
    total = max(found.accesses, 1)
    parts = [100 * field.accesses / total for field in bars]
    axes.barh(
        range(len(bars)),
        parts,
        height=0.74,
        color=[_colour(field) for field in bars],
        edgecolor=["#555555" if field.cold is None else _colour(field) for field in bars],
        linewidth=0.7,
    )
    for place, (field, weight) in enumerate(zip(bars, parts, strict=True)):
        # A bar of next to nothing shows no colour.
        label = f" {field.accesses:,}{' cold' if field.cold else ''}"
        axes.text(weight, place, label, va="center", fontsize=7.5, color="#555555")
    axes.set_yticks(range(len(bars)), [_name(field) for field in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_xlim(0, max(*parts, 1.0) * 1.16)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
    axes.set_xlabel("accesses to the field, per cent of the class's")
    after = f" → {found.hot_bytes}" if found.split else ""
    axes.set_title(f"{found.label} ({found.bytes}{after} bytes)", fontsize=10, loc="left")


def _name(field: FieldWeight) -> str:
    name = field.name
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _colour(field: FieldWeight) -> str:
    return UNMARKED if field.cold is None else COLD if field.cold else HOT


def _meanings(shown: Sequence[ClassWeights]) -> list[Patch]:
    found = [Patch(color=HOT, label="hot"), Patch(color=COLD, label="cold")]
    if any(field.cold is None for it in shown for field in it.fields):
        found.append(Patch(facecolor=UNMARKED, edgecolor="#555555", label="not marked"))
    return found


def _note(
    result: AnalysisResult, classes: Sequence[ClassWeights], shown: Sequence[ClassWeights]
) -> str:
    left = len(classes) - len(shown)
    more = f" {left} more classes are not shown." if left else ""
    return (
        f"Program: {result.document.program}. Fields as marked by class splitting (Chilimbi,"
        f" Davidson and Larus, 1999).{more}"
    )
