"""`configurations`: any metric of all configurations under all programs, as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halo.report.figures.base import FigureOptions
from halo.report.figures.comparison import baseline_of
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.report.results import Measurement, read_measurements
from halo.report.results.metrics import Metric, Value, evaluate, is_simulated, labels, parse_metric

METRIC = "time@speedup"
LACKING = "-"  # a strategy without groups in this program is not a configuration


class ConfigurationsFigure:
    name = "configurations"
    summary = "a metric (default time@speedup) of all configurations, as a table"
    endings = TABLES
    accepts = ("metric", "configurations", "baseline", "on", "trimmed")

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        metric = parse_metric(options.metric or METRIC)
        measurements = read_measurements(paths)
        wanted = options.configs or tuple(
            dict.fromkeys(
                label for m in measurements for label in labels(m, metric.event, options.on)
            )
        )
        rows = [_row(m, metric, wanted, options) for m in measurements]
        return Table(
            titles=["Program", *(["Baseline"] if metric.transform else []), *wanted],
            cells=[row.cells(wanted) for row in rows],
            records=[record for row in rows for record in row.records(metric)],
            names=2 if metric.transform else 1,
        ).to_file(ending)


@dataclass(frozen=True)
class ConfigurationRow:
    """One program: its configurations' values and the baseline, which is empty for raw values."""

    program: str
    baseline: str
    values: Mapping[str, Value]
    simulated: bool

    def cells(self, wanted: Sequence[str]) -> list[str]:
        names = [self.program, self.baseline] if self.baseline else [self.program]
        return [*names, *(self._cell(label) for label in wanted)]

    def records(self, metric: Metric) -> list[dict[str, Any]]:
        return [
            {
                "program": self.program,
                "configuration": label,
                "metric": str(metric),
                "baseline": self.baseline,
                "value": value.value,
                "first_quartile": value.low,
                "third_quartile": value.high,
            }
            for label, value in self.values.items()
        ]

    def _cell(self, label: str) -> str:
        value = self.values.get(label)
        if value is None:
            return LACKING
        if self.simulated:
            return _figure(value.value)
        return f"{_figure(value.value)} ({_figure(value.low)} to {_figure(value.high)})"


def _row(
    measurement: Measurement, metric: Metric, wanted: Sequence[str], options: FigureOptions
) -> ConfigurationRow:
    """A program's row; `BadInput` if a requested configuration was not measured."""
    have = labels(measurement, metric.event, options.on)
    baseline = baseline_of(measurement, options.baseline)
    return ConfigurationRow(
        program=measurement.program,
        baseline=baseline if metric.transform else "",
        values={
            label: evaluate(measurement, metric, label, baseline, options.on, options.trimmed)
            for label in wanted
            if label in have or options.configs
        },
        simulated=is_simulated(measurement, metric.event),
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"
