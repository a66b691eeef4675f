"""`model`: modelled cycles against measured time, of all programs and configurations."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.style import COLOURS, canvas, footnote, save, style_axes
from halo.report.results import read_measurements
from halo.report.results.agreement import Point, agreement, points_of

MARKERS = "os^Dv<>pP*Xhd"
WIDTH = 6.4


class ModelFigure:
    name = "model"
    summary = "modelled cycles compared with measured time, with their rank correlation"
    endings = IMAGES
    accepts = ()

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        measurements = read_measurements(paths)
        points = [point for measurement in measurements for point in points_of(measurement)]
        found = agreement(points)
        with canvas(WIDTH, 5.2) as drawing:
            axes = drawing.subplots()
            style_axes(axes)
            axes.grid(axis="x", color="#DDDDDD", linewidth=0.7)
            by_program: dict[str, list[Point]] = {}
            for point in points:
                by_program.setdefault(point.program, []).append(point)
            for number, (program, mine) in enumerate(by_program.items()):
                axes.plot(
                    [point.relative_modelled for point in mine],
                    [point.relative_measured for point in mine],
                    linestyle="",
                    marker=MARKERS[number % len(MARKERS)],
                    color=COLOURS[number % len(COLOURS)],
                    markersize=5,
                    label=f"{program} ({found.within[program]:.2f})",
                )
            axes.set_xlabel("modelled cycles, relative to the program's median configuration")
            axes.set_ylabel("measured time, relative to the same")
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
            drawing.suptitle(
                f"Rank correlation {found.relative:.2f} of {len(points)} configurations",
                fontsize=11,
                x=0.01,
                ha="left",
            )
            note = (
                "Spearman's; in brackets that within a program. Of cycles and seconds as they"
                f" are: {found.absolute:.2f}. Each point is a configuration under a program, on the"
                f" input that was simulated. Machine: {measurements[0].machine}."
            )
            footnote(drawing, textwrap.fill(note, int(WIDTH * 16)))
            return save(drawing, ending)
