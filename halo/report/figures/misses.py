"""`misses`: the reduction of cache misses by each configuration (HALO, figure 13)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halo.base.errors import BadInput
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.comparison import compare, shared_configs
from halo.report.figures.drawing.bar_chart import draw_bars
from halo.report.figures.speedup import CONFIGURATIONS
from halo.report.results import Measurement, read_measurements
from halo.report.results.metrics import events, parse_metric

FIRST_LEVEL = ("L1D-misses", "L1-dcache-load-misses")
"""The event as simulated, and as counted by the processor."""
TRANSFORM = "negimprovement"


class MissesFigure:
    name = "misses"
    summary = "reduction of misses, by default of the first-level data cache (figure 13)"
    endings = IMAGES
    accepts = ("metric", "configurations", "baseline", "on")

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        measurements = read_measurements(paths)
        metric = parse_metric(options.metric or f"{_event(measurements, options.on)}@{TRANSFORM}")
        configs = options.configs or shared_configs(
            measurements, metric.event, CONFIGURATIONS, options.on
        )
        title = "Misses avoided" if metric.transform == TRANSFORM else "Misses"
        return draw_bars(compare(measurements, metric, configs, options, title), ending)


def _event(measurements: Sequence[Measurement], on: str) -> str:
    for event in FIRST_LEVEL:
        if all(event in events(measurement, on) for measurement in measurements):
            return event
    found = ((m, set(events(m, on))) for m in measurements)
    lacking = next((m for m, known in found if not known.intersection(FIRST_LEVEL)), None)
    if lacking is None:
        raise BadInput(
            "Some of the results have simulated misses of the first-level data cache, and others"
            " counted ones; draw them separately."
        )
    raise BadInput(
        f"{lacking.path} has no misses of the first-level data cache, neither simulated nor"
        f" counted; measured were: {', '.join(events(lacking, on))}. Misses are simulated by:"
        " halo study eval compare"
    )
