"""`misses`: by how much each contender reduces cache misses (HALO, figure 13)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halo.errors import BadInput
from halo.figures.bar_chart import draw_bars
from halo.figures.base import IMAGES, Options
from halo.figures.comparison import compare, shared_contenders
from halo.figures.speedup import CONTENDERS
from halo.results import Measurement, read_measurements
from halo.results.metrics import events, parse_metric

FIRST_LEVEL = ("L1D-misses", "L1-dcache-load-misses")
"""Simulated, and counted by the processor."""
TRANSFORM = "negimprovement"


class MissesFigure:
    name = "misses"
    summary = "by how much fewer misses each contender has, L1D's by default (figure 13)"
    endings = IMAGES
    heeds = ("metric", "contenders", "baseline", "on")

    def make(self, paths: Sequence[Path], options: Options, ending: str) -> bytes:
        measurements = read_measurements(paths)
        metric = parse_metric(options.metric or f"{_event(measurements, options.on)}@{TRANSFORM}")
        contenders = options.contenders or shared_contenders(
            measurements, metric.event, CONTENDERS, options.on
        )
        title = "Misses avoided" if metric.transform == TRANSFORM else "Misses"
        return draw_bars(compare(measurements, metric, contenders, options, title), ending)


def _event(measurements: Sequence[Measurement], on: str) -> str:
    for event in FIRST_LEVEL:
        if all(event in events(measurement, on) for measurement in measurements):
            return event
    lacking = next(m for m in measurements if not set(FIRST_LEVEL) & set(events(m, on)))
    raise BadInput(
        f"{lacking.path} has no misses of the first-level data cache, neither simulated nor"
        f" counted; measured were: {', '.join(events(lacking, on))}. Misses are simulated by:"
        " halo evaluate"
    )
