"""`bars`: any metric of any contenders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halo.errors import UsageError
from halo.figures.bar_chart import draw_bars
from halo.figures.base import IMAGES, Options
from halo.figures.comparison import compare, shared_contenders
from halo.results import read_measurements
from halo.results.metrics import labels, parse_metric


class BarsFigure:
    name = "bars"
    summary = "any metric of any contenders, with --metric and --contenders"
    endings = IMAGES
    heeds = ("metric", "contenders", "baseline", "on")

    def make(self, paths: Sequence[Path], options: Options, ending: str) -> bytes:
        if not options.metric:
            raise UsageError(
                "The figure bars needs a metric; write for instance: --metric time@speedup"
            )
        metric = parse_metric(options.metric)
        measurements = read_measurements(paths)
        contenders = options.contenders
        if not contenders:
            everyone = dict.fromkeys(
                label for m in measurements for label in labels(m, metric.event, options.on)
            )
            contenders = tuple(
                shared_contenders(measurements, metric.event, list(everyone), options.on)
            )
        return draw_bars(compare(measurements, metric, contenders, options, str(metric)), ending)
