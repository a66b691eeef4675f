"""`speedup`: the reduction of time by each configuration (HALO, figure 14)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.comparison import compare, shared_configs
from halo.report.figures.drawing.bar_chart import draw_bars
from halo.report.results import read_measurements
from halo.report.results.metrics import parse_metric

METRIC = "time@negimprovement"
CONFIGURATIONS = ("halo", "halo plan", "hot-streams plan")


class SpeedupFigure:
    name = "speedup"
    summary = "reduction of time by each configuration (figure 14)"
    endings = IMAGES
    accepts = ("configurations", "baseline", "on", "trimmed")

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        measurements = read_measurements(paths)
        metric = parse_metric(METRIC)
        configs = options.configs or shared_configs(
            measurements, metric.event, CONFIGURATIONS, options.on
        )
        title = "Time saved"
        return draw_bars(compare(measurements, metric, configs, options, title), ending)
