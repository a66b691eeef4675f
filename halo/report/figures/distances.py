"""`distances`: time at several affinity distances; without halo as a dashed line (figure 12)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

from halo.base.errors import BadInput
from halo.base.schema.results import Distances
from halo.measure.statistics import summarize
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.style import COLOURS, INK, canvas, footnote, save, style_axes
from halo.report.results import Measurement, read_measurements

COLUMNS = 3


class DistancesFigure:
    name = "distances"
    summary = "time by affinity distance (figure 12)"
    endings = IMAGES
    accepts = ()

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        measurements = read_measurements(paths)
        found = [(measurement, _distances(measurement)) for measurement in measurements]
        columns = min(COLUMNS, len(found))
        rows = -(-len(found) // columns)
        width = max(5.2, 3.6 * columns)
        with canvas(width, 3.0 * rows + 0.6) as drawing:
            grid = drawing.subplots(rows, columns, squeeze=False)
            for axes, (measurement, distances) in zip(grid.flat, found, strict=False):
                _draw(axes, measurement.program, distances)
            for axes in grid.flat[len(found) :]:
                axes.set_visible(False)
            drawing.suptitle("Time at affinity distances", fontsize=11, x=0.01, ha="left")
            strategies = ", ".join(dict.fromkeys(distances.strategy for _, distances in found))
            note = (
                f"Plans of the strategy {strategies}; error bars: quartiles. Machine:"
                f" {measurements[0].machine}."
            )
            footnote(drawing, textwrap.fill(note, int(width * 16)))
            return save(drawing, ending)


def _distances(measurement: Measurement) -> Distances:
    if measurement.results.distances is None:
        raise BadInput(
            f"{measurement.path} was not measured at several affinity distances; halo study"
            " eval compare"
            " does that."
        )
    return measurement.results.distances


def _draw(axes: Axes, program: str, found: Distances) -> None:
    style_axes(axes)
    times = [summarize([trial.wall for trial in point.trials]) for point in found.points]
    places = range(len(times))
    axes.errorbar(
        places,
        [time.median for time in times],
        yerr=[
            [time.median - time.first_quartile for time in times],
            [time.third_quartile - time.median for time in times],
        ],
        color=COLOURS[0],
        marker="o",
        markersize=4,
        linewidth=1.2,
        capsize=2.5,
        label=f"{found.strategy} over {found.allocator}",
    )
    base = summarize([trial.wall for trial in found.baseline])
    axes.axhline(
        base.median, color=INK, linestyle="--", linewidth=1, label=f"{found.allocator} alone"
    )
    axes.set_xticks(
        places, [f"{point.distance}" for point in found.points], rotation=45, fontsize=8
    )
    axes.set_xlabel("affinity distance, bytes")
    axes.set_ylabel("time, s")
    axes.set_title(program, fontsize=10)
    axes.margins(y=0.12)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.12), ncols=2, frameon=False, fontsize=8)
