"""Cumulative shares of several programs: a line for each program, and a table."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.style import COLOURS, canvas, footnote, save, style_axes
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.studies.pollution.locality.document import Locality
from halo.studies.pollution.locality.results import LocalProgram, read_localities

SIZE = (6.4, 4.4)
"""Inches."""
LINES = ("-", "--", ":")

Points = Sequence[tuple[float, float]]
"""Values, ascending, and the shares that are at most as large."""


@dataclass(frozen=True)
class Distribution:
    """What a figure draws of each program; `points` are empty if it has nothing of it."""

    name: str
    summary: str
    title: str
    axis: str
    shares: str  # of what
    note: str
    ticks: Sequence[float]  # values of which the table has the share
    points: Callable[[Locality], Points]
    logarithmic: bool = False


@dataclass(frozen=True)
class DistributionFigure:
    """A figure of `halo plot`."""

    what: Distribution

    endings = (*IMAGES, *TABLES)
    accepts = ()

    @property
    def name(self) -> str:
        return self.what.name

    @property
    def summary(self) -> str:
        return self.what.summary

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        read = read_localities(paths)
        found = [(one, self.what.points(one.found)) for one in read]
        drawn = [(one, points) for one, points in found if points]
        if not drawn:
            raise BadInput(f"None of the programs has {self.what.shares}; give larger inputs.")
        left_out = [one.program for one, points in found if not points]
        if ending in TABLES:
            return self._table(drawn, ending)
        return self._image(drawn, left_out, ending)

    def _table(self, drawn: Sequence[tuple[LocalProgram, Points]], ending: str) -> bytes:
        rows = [
            (one.program, [share_at(points, tick) for tick in self.what.ticks])
            for one, points in drawn
        ]
        cells = [[name, *(f"{share:.1%}" for share in shares)] for name, shares in rows]
        records = [
            {"program": name, **{f"{t:g}": s for t, s in zip(self.what.ticks, shares, strict=True)}}
            for name, shares in rows
        ]
        titles = ["Program", *(f"at most {tick:g}" for tick in self.what.ticks)]
        return Table(titles, cells, records).to_file(ending)

    def _image(
        self, drawn: Sequence[tuple[LocalProgram, Points]], left_out: Sequence[str], ending: str
    ) -> bytes:
        with canvas(*SIZE) as drawing:
            axes = drawing.add_subplot()
            style_axes(axes)
            for number, (one, points) in enumerate(drawn):
                axes.step(
                    [value for value, _ in points],
                    [100 * share for _, share in points],
                    where="post",
                    color=COLOURS[number % len(COLOURS)],
                    linestyle=LINES[number // len(COLOURS) % len(LINES)],
                    linewidth=1.3,
                    label=one.program,
                )
            if self.what.logarithmic:
                axes.set_xscale("log")
            axes.set_ylim(0, 102)
            axes.set_xlabel(self.what.axis)
            axes.set_ylabel(f"{self.what.shares}, %")
            axes.set_title(self.what.title, fontsize=11, loc="left")
            axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
            note = self.what.note
            if left_out:
                note += f" Without {', '.join(left_out)}: no {self.what.shares}."
            footnote(drawing, textwrap.fill(note, int(SIZE[0] * 16)))
            return save(drawing, ending)


def share_at(points: Points, value: float) -> float:
    """The share of values that are at most that one."""
    return max((share for at, share in points if at <= value + 1e-9), default=0.0)


def cumulative(counts: Sequence[int]) -> Points:
    """Of counts in equal steps from 0 to 1: each step's upper end, and the share up to it."""
    total = sum(counts)
    if not total:
        return []
    return [(at / len(counts), sum(counts[:at]) / total) for at in range(len(counts) + 1)]


def of_values(values: Sequence[float], weights: Sequence[int]) -> Points:
    """Each value in ascending order, and the share of all weight up to it."""
    total = sum(weights)
    if not total:
        return []
    ordered = sorted(zip(values, weights, strict=True))
    points, sum_ = [], 0
    for value, weight in ordered:
        sum_ += weight
        points.append((value, sum_ / total))
    return points
