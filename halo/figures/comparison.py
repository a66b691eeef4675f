"""From measurements and a metric to a bar chart: which contenders, which baseline, what is said."""

from __future__ import annotations

from collections.abc import Sequence

from halo.errors import BadInput
from halo.figures.bar_chart import Chart, Group
from halo.figures.base import Options
from halo.results import Measurement
from halo.results.metrics import (
    Metric,
    axis_title,
    evaluate,
    fastest_allocator,
    is_simulated,
    labels,
    neutral,
)
from halo.results.model import HALO

FASTEST = "fastest"
"""As a baseline: of each program the allocator with the least time."""


def compare(
    measurements: Sequence[Measurement],
    metric: Metric,
    contenders: Sequence[str],
    options: Options,
    title: str,
) -> Chart:
    """A group of bars for each program."""
    baselines = [baseline_of(measurement, options.baseline) for measurement in measurements]
    groups = []
    for measurement, baseline in zip(measurements, baselines, strict=True):
        values = [evaluate(measurement, metric, c, baseline, options.on) for c in contenders]
        groups.append(Group(_name(measurement, contenders), values))
    return Chart(
        title=title,
        axis=axis_title(metric),
        contenders=contenders,
        groups=groups,
        note=_note(measurements, metric, baselines, contenders, options),
        neutral=neutral(metric),
    )


def shared_contenders(
    measurements: Sequence[Measurement], event: str, wanted: Sequence[str], on: str
) -> list[str]:
    """Those of the wanted that every measurement has; `BadInput` where there are none."""
    found = [w for w in wanted if all(w in labels(m, event, on) for m in measurements)]
    if not found:
        lacking = next(m for m in measurements if not set(wanted) & set(labels(m, event, on)))
        raise BadInput(
            f"{lacking.path} has no {event} of {' or '.join(wanted)}; it has those of"
            f" {', '.join(labels(lacking, event, on))}: choose with --contenders, or measure with:"
            " halo evaluate"
        )
    return found


def baseline_of(measurement: Measurement, wanted: str) -> str:
    """The label of what a program's contenders are set against."""
    return wanted if wanted and wanted != FASTEST else fastest_allocator(measurement)


def _name(measurement: Measurement, contenders: Sequence[str]) -> str:
    """The program; with a word where halo's bar is that of an allocator."""
    if HALO in contenders and measurement.keeps_none:
        return f"{measurement.program}\n(no plan)"
    return measurement.program


def _note(
    measurements: Sequence[Measurement],
    metric: Metric,
    baselines: Sequence[str],
    contenders: Sequence[str],
    options: Options,
) -> str:
    simulated = any(is_simulated(measurement, metric.event) for measurement in measurements)
    on = options.on
    if simulated:
        assert measurements[0].simulation is not None
        on = measurements[0].simulation.input
    parts = [f"{metric}, {'simulated' if simulated else 'measured'} on the {on} input"]
    if metric.transform:
        parts.append(f"baseline: {_baselines(measurements, baselines, options.baseline)}")
    if not simulated:
        parts.append("error bars: quartiles")
    if measurements[0].litter:
        parts.append(f"every heap {measurements[0].litter}")
    if HALO in contenders and any(measurement.keeps_none for measurement in measurements):
        parts.append("no plan: none was kept, so halo runs an allocator alone")
    return f"{'; '.join(parts)}. Machine: {measurements[0].machine}."


def _baselines(measurements: Sequence[Measurement], baselines: Sequence[str], wanted: str) -> str:
    if wanted and wanted != FASTEST:
        return wanted
    by_name: dict[str, list[str]] = {}
    for measurement, baseline in zip(measurements, baselines, strict=True):
        by_name.setdefault(baseline, []).append(measurement.program)
    if len(by_name) == 1:
        return f"{baselines[0]}, the fastest allocator"
    named = "; ".join(f"{name} for {', '.join(programs)}" for name, programs in by_name.items())
    return f"each program's fastest allocator ({named})"
