"""`bars`: any metric of any configurations, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halo.base.errors import UsageError
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.comparison import compare, shared_configs
from halo.report.figures.drawing.bar_chart import draw_bars
from halo.report.results import read_measurements
from halo.report.results.metrics import labels, parse_metric


class BarsFigure:
    name = "bars"
    summary = "a metric of chosen configurations, by --metric and --configurations"
    endings = IMAGES
    accepts = ("metric", "configurations", "baseline", "on")

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        if not options.metric:
            raise UsageError(
                "The figure bars needs a metric; write for instance: --metric time@speedup"
            )
        metric = parse_metric(options.metric)
        measurements = read_measurements(paths)
        configs = options.configs
        if not configs:
            everyone = dict.fromkeys(
                label for m in measurements for label in labels(m, metric.event, options.on)
            )
            configs = tuple(shared_configs(measurements, metric.event, list(everyone), options.on))
        return draw_bars(compare(measurements, metric, configs, options, str(metric)), ending)
