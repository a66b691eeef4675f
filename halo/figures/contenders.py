"""`contenders`: any metric of all contenders under all programs, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halo.figures.base import Options
from halo.figures.comparison import baseline_of
from halo.figures.table_files import TABLES, Table
from halo.results import Measurement, read_measurements
from halo.results.metrics import Metric, Value, evaluate, is_simulated, labels, parse_metric

METRIC = "time@speedup"
LACKING = "-"  # a strategy that groups nothing in this program is no contender


class ContendersFigure:
    name = "contenders"
    summary = "any metric (time@speedup) of all contenders, as a table"
    endings = TABLES
    heeds = ("metric", "contenders", "baseline", "on")

    def make(self, paths: Sequence[Path], options: Options, ending: str) -> bytes:
        metric = parse_metric(options.metric or METRIC)
        measurements = read_measurements(paths)
        wanted = options.contenders or tuple(
            dict.fromkeys(
                label for m in measurements for label in labels(m, metric.event, options.on)
            )
        )
        found = [(m, _values(m, metric, wanted, options)) for m in measurements]
        baseline = ["Baseline"] if metric.transform else []
        return Table(
            titles=["Program", *baseline, *wanted],
            cells=[
                [
                    m.program,
                    *([baseline_of(m, options.baseline)] if metric.transform else []),
                    *(_cell(values.get(label), is_simulated(m, metric.event)) for label in wanted),
                ]
                for m, values in found
            ],
            records=[
                _record(m, label, value, metric, options)
                for m, values in found
                for label, value in values.items()
            ],
            names=1 + len(baseline),
        ).to_file(ending)


def _values(
    measurement: Measurement, metric: Metric, wanted: Sequence[str], options: Options
) -> dict[str, Value]:
    """Of those contenders that the program has; `BadInput` where the metric was not measured."""
    have = labels(measurement, metric.event, options.on)
    baseline = baseline_of(measurement, options.baseline)
    return {
        label: evaluate(measurement, metric, label, baseline, options.on)
        for label in wanted
        if label in have or options.contenders
    }


def _cell(value: Value | None, simulated: bool) -> str:
    if value is None:
        return LACKING
    if simulated:
        return _figure(value.value)
    return f"{_figure(value.value)} ({_figure(value.low)} to {_figure(value.high)})"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _record(
    measurement: Measurement, label: str, value: Value, metric: Metric, options: Options
) -> dict[str, Any]:
    return {
        "program": measurement.program,
        "contender": label,
        "metric": str(metric),
        "baseline": baseline_of(measurement, options.baseline) if metric.transform else "",
        "value": value.value,
        "first_quartile": value.low,
        "third_quartile": value.high,
    }
