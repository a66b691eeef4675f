"""`forests`: accuracy by the number of trees of a forest (Miucin, figure 3.4)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from halo.report.figures.drawing.style import canvas, footnote, look, save, style_axes
from halo.report.figures.drawing.table_files import Table
from halo.studies.hints.figures.figure import WIDTH, LearntFigure
from halo.studies.hints.results import LearntType

HEIGHT = 3.9


def _draw(shown: Sequence[LearntType], more: str, ending: str) -> bytes:
    with canvas(WIDTH, HEIGHT + 0.2 * len(shown)) as drawing:
        axes = drawing.subplots()
        style_axes(axes)
        for at, one in enumerate(shown):
            trees = [it.trees for it in one.hint.forests]
            colour, _ = look(at)
            top1 = [it.top1 for it in one.hint.forests]
            top5 = [it.top5 for it in one.hint.forests]
            axes.plot(trees, top1, color=colour, marker="o", label=one.label)
            axes.plot(trees, top5, color=colour, marker="o", linestyle="--")
        axes.set_ylim(0, 1.02)
        axes.set_xlim(left=0)
        axes.set_xlabel("trees")
        axes.set_ylabel("accuracy")
        drawing.legend(loc="outside upper left", frameon=False, fontsize=8)
        note = (
            "Lines: objects whose community is predicted; dashed: those whose community is among"
            " the five likeliest. 5-fold cross validation."
            f"{more}"
        )
        footnote(drawing, textwrap.fill(note, int(WIDTH * 16)))
        return save(drawing, ending)


def _table(found: Sequence[LearntType]) -> Table:
    rows = [(one, it) for one in found for it in one.hint.forests]
    cells = [
        [one.program, one.hint.type, str(it.trees), f"{it.top1:.3f}", f"{it.top5:.3f}"]
        for one, it in rows
    ]
    records = [
        {
            "program": one.program,
            "type": one.hint.type,
            "trees": it.trees,
            "top1": it.top1,
            "top5": it.top5,
        }
        for one, it in rows
    ]
    return Table(["Program", "Type", "Trees", "Top-1", "Top-5"], cells, records)


FORESTS = LearntFigure("forests", "accuracy of forests of different sizes, by type", _draw, _table)
