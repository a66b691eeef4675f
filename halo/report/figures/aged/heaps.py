"""Shared parts of the figure and the table of aged heaps: configurations, baselines, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.base.schema.aged import Aged
from halo.report.figures.base import FigureOptions
from halo.report.figures.comparison import FASTEST
from halo.report.results import Measurement, read_measurements
from halo.report.results.aged_metrics import (
    AgedSeries,
    aged_of,
    aged_series,
    fastest_clean_allocator,
    own_allocator,
)
from halo.report.results.metrics import Metric


@dataclass(frozen=True)
class Heaps:
    """A program on clean and aged heaps: the values of its configurations, and the baseline."""

    measurement: Measurement
    aged: Aged
    baseline: str
    series: tuple[AgedSeries, ...]

    @property
    def program(self) -> str:
        return self.measurement.program


def read_heaps(paths: Sequence[Path], metric: Metric, options: FigureOptions) -> list[Heaps]:
    """The heaps of each file; `BadInput` if one has no aged heaps, or their litter differs."""
    measurements = read_measurements(paths)
    _check_alike(measurements)
    return [_heaps(measurement, metric, options) for measurement in measurements]


def configs_of(all_heaps: Sequence[Heaps]) -> list[str]:
    """Every label, each once, in the order of the files."""
    return list(dict.fromkeys(series.label for heaps in all_heaps for series in heaps.series))


def baseline_note(all_heaps: Sequence[Heaps]) -> str:
    """A note on the configuration that others are compared with."""
    by_name: dict[str, list[str]] = {}
    for heaps in all_heaps:
        by_name.setdefault(heaps.baseline, []).append(heaps.program)
    if len(by_name) == 1:
        return f"baseline: {all_heaps[0].baseline} on the clean heap"
    named = "; ".join(f"{name} for {', '.join(programs)}" for name, programs in by_name.items())
    return f"baseline, on the clean heap: {named}"


def programs_note(all_heaps: Sequence[Heaps]) -> str:
    """A note on configurations that are separate programs; empty if none is."""
    found: dict[str, dict[str, None]] = {}
    for heaps in all_heaps:
        for series in heaps.series:
            program = heaps.aged.configurations[series.label].program
            if program is not None:
                found.setdefault(series.label, {})[program] = None
    return "; ".join(f"{label}: {', '.join(names)}" for label, names in found.items())


def litter_note(all_heaps: Sequence[Heaps]) -> str:
    """A note on the settings of the litter."""
    aged = all_heaps[0].aged
    seeds = list(dict.fromkeys(_seed(heaps.aged.seed) for heaps in all_heaps))
    freed = "freed in random order" if aged.shuffle else "the last ones freed"
    return (
        f"litter: {aged.multiplier:g} times the most objects that live at once, {freed},"
        f" {', '.join(seeds)}"
    )


def _seed(seed: int | None) -> str:
    return "another seed in each run" if seed is None else f"seed {seed}"


def _heaps(measurement: Measurement, metric: Metric, options: FigureOptions) -> Heaps:
    aged = aged_of(measurement)
    baseline = _baseline(measurement, aged, options.baseline)
    wanted = options.configs or _in_order(aged)
    series = tuple(aged_series(measurement, metric, label, baseline) for label in wanted)
    return Heaps(measurement, aged, baseline, series)


def _in_order(aged: Aged) -> tuple[str, ...]:
    """All configurations in the order of the file, except the program's own allocator first."""
    return tuple(sorted(aged.configurations, key=lambda label: label != own_allocator(aged)))


def _baseline(measurement: Measurement, aged: Aged, wanted: str) -> str:
    """The requested one, else the program's own allocator, else the fastest on the clean heap."""
    if wanted and wanted != FASTEST:
        return wanted
    own = None if wanted == FASTEST else own_allocator(aged)
    return own or fastest_clean_allocator(measurement)


def _check_alike(measurements: Sequence[Measurement]) -> None:
    """Raises `BadInput` if heaps were littered with different settings."""
    first = measurements[0]
    for other in measurements:
        ways = [_way(aged_of(measurement)) for measurement in (first, other)]
        for what, one in ways[0].items():
            if one != ways[1][what]:
                raise BadInput(
                    f"{first.path} and {other.path} do not belong together: their {what} of litter"
                    f" is {one} and {ways[1][what]}; measure both alike, or draw one of them."
                )


def _way(aged: Aged) -> Mapping[str, str]:
    return {"multiplier": f"{aged.multiplier:g}", "shuffling": "on" if aged.shuffle else "off"}
