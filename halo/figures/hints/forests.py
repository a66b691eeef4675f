"""`forests`: accuracy by the number of trees of a forest (Miucin, figure 3.4)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from halo.figures.base import IMAGES, Options
from halo.figures.drawing.style import canvas, footnote, look, save, style_axes
from halo.figures.drawing.table_files import TABLES, Table
from halo.results.hints import LearntType, read_learnt

MAX_TYPES = 6
WIDTH, HEIGHT = 6.4, 3.9


class ForestsFigure:
    name = "forests"
    summary = "accuracy of forests of different sizes, by type"
    endings = (*IMAGES, *TABLES)
    accepts = ("top",)

    def make(self, paths: Sequence[Path], options: Options, ending: str) -> bytes:
        found = read_learnt(paths)
        if ending in TABLES:
            return _table(found, ending)
        return _draw(found, options.top or MAX_TYPES, ending)


def _draw(found: Sequence[LearntType], maximum: int, ending: str) -> bytes:
    shown = found[:maximum]
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
        more = len(found) - len(shown)
        note = (
            "Lines: objects whose community is predicted; dashed: those whose community is among"
            " the five likeliest. 5-fold cross validation."
            f"{f' {more} more types are not shown.' if more else ''}"
        )
        footnote(drawing, textwrap.fill(note, int(WIDTH * 16)))
        return save(drawing, ending)


def _table(found: Sequence[LearntType], ending: str) -> bytes:
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
    return Table(["Program", "Type", "Trees", "Top-1", "Top-5"], cells, records).to_file(ending)
