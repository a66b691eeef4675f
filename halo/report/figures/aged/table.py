"""`aged`: times of all configurations on clean and aged heaps, with ratios, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halo.base.schema.aged import AgedLevel
from halo.measure.statistics import summarize
from halo.report.figures.aged.heaps import Heaps, read_heaps
from halo.report.figures.base import FigureOptions
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.report.results.aged_metrics import AgedSeries
from halo.report.results.metrics import Metric, Value, values_in

TIME = Metric("time", "relative")
LACKING = "-"


class AgedFigure:
    name = "aged"
    summary = "time of all configurations on clean and aged heaps, as a table"
    endings = TABLES
    accepts = ("configurations", "baseline")

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        all_heaps = read_heaps(paths, TIME, options)
        levels = {level.occupancy: level for heaps in all_heaps for level in heaps.aged.levels}
        columns = [None, *sorted((o for o in levels if o is not None), reverse=True)]
        return Table(
            titles=["Program", "Configuration", *(_title(levels[column]) for column in columns)],
            cells=[
                _cells(heaps, series, columns) for heaps in all_heaps for series in heaps.series
            ],
            records=[
                record
                for heaps in all_heaps
                for series in heaps.series
                for record in _records(heaps, series)
            ],
            names=2,
        ).to_file(ending)


def _title(level: AgedLevel) -> str:
    return "Clean heap" if level.occupancy is None else f"Occupancy {level.name}"


def _cells(heaps: Heaps, series: AgedSeries, columns: Sequence[float | None]) -> list[str]:
    """A row; a level without a measurement of this configuration has a dash."""
    found = {
        level.occupancy: _cell(heaps, series.label, level, ratio)
        for level, ratio in zip(heaps.aged.levels, series.values, strict=True)
    }
    return [heaps.program, series.label, *(found.get(column, LACKING) for column in columns)]


def _cell(heaps: Heaps, label: str, level: AgedLevel, ratio: Value | None) -> str:
    if ratio is None:
        return LACKING
    time = seconds(summarize(values_in(level.trials[label], TIME.event)).median)
    is_baseline = level is heaps.aged.clean and label == heaps.baseline
    return time if is_baseline else f"{time} ({ratio.value:.2f}x)"


def seconds(value: float) -> str:
    """Seconds with two decimals, or with three significant digits below one second."""
    decimals = 2
    while decimals < 9 and value * 10**decimals < 99.5:
        decimals += 1
    return f"{value:.{decimals}f} s"


def _records(heaps: Heaps, series: AgedSeries) -> list[dict[str, Any]]:
    """Records with times in seconds; ratios are to the baseline's median on the clean heap."""
    records = []
    for level, ratio in zip(heaps.aged.levels, series.values, strict=True):
        if ratio is None:
            continue
        spread = summarize(values_in(level.trials[series.label], TIME.event))
        split = level.split.get(series.label)
        records.append(
            {
                "program": heaps.program,
                "configuration": series.label,
                "occupancy": level.occupancy,
                "baseline": heaps.baseline,
                "median": spread.median,
                "first_quartile": spread.first_quartile,
                "third_quartile": spread.third_quartile,
                "ratio": ratio.value,
                "trials": spread.count,
                "inside_allocator": split.inside if split else None,
            }
        )
    return records
