"""`random-pools`: whether a program cares about placement at all (HALO, figure 15)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halo.figures.bar_chart import draw_bars
from halo.figures.base import IMAGES, Options
from halo.figures.comparison import compare, shared_contenders
from halo.results import read_measurements
from halo.results.metrics import parse_metric

METRIC = "time@negimprovement"
CONTENDERS = ("random-pools plan",)


class RandomPoolsFigure:
    name = "random-pools"
    summary = "what random placement in four pools does to the time (figure 15)"
    endings = IMAGES
    heeds = ("contenders", "baseline", "on")

    def make(self, paths: Sequence[Path], options: Options, ending: str) -> bytes:
        measurements = read_measurements(paths)
        metric = parse_metric(METRIC)
        contenders = options.contenders or shared_contenders(
            measurements, metric.event, CONTENDERS, options.on
        )
        title = "Time saved by random placement"
        return draw_bars(compare(measurements, metric, contenders, options, title), ending)
