"""Makes a bar chart of measurements: chooses the configurations, the baseline and the labels."""

from __future__ import annotations

from collections.abc import Sequence

from halo.base.errors import BadInput
from halo.measure.racing.gains import HALO
from halo.report.figures.base import FigureOptions
from halo.report.figures.drawing.bar_chart import BarGroup, Chart
from halo.report.results import Measurement
from halo.report.results.metrics import (
    Metric,
    axis_title,
    evaluate,
    fastest_allocator,
    is_simulated,
    labels,
    neutral,
)

FASTEST = "fastest"
"""As a baseline: the allocator with the minimum time of each program."""


def compare(
    measurements: Sequence[Measurement],
    metric: Metric,
    configs: Sequence[str],
    options: FigureOptions,
    title: str,
) -> Chart:
    """The chart with a group of bars for each program, as the content of a file."""
    baselines = [baseline_of(measurement, options.baseline) for measurement in measurements]
    groups = []
    for measurement, baseline in zip(measurements, baselines, strict=True):
        values = [
            evaluate(measurement, metric, c, baseline, options.on, options.trimmed) for c in configs
        ]
        groups.append(BarGroup(_name(measurement, configs), values))
    return Chart(
        title=title,
        axis=axis_title(metric),
        configs=configs,
        groups=groups,
        note=_note(measurements, metric, baselines, configs, options),
        neutral=neutral(metric),
    )


def shared_configs(
    measurements: Sequence[Measurement], event: str, wanted: Sequence[str], on: str
) -> list[str]:
    """The wanted configurations that every measurement has; `BadInput` if there are none."""
    found = [w for w in wanted if all(w in labels(m, event, on) for m in measurements)]
    if not found:
        lacking = next(
            (m for m in measurements if not set(wanted) & set(labels(m, event, on))), None
        )
        if lacking is None:
            raise BadInput(
                f"No configuration with {event} is in all of the results; choose some that have one"
                " in common."
            )
        raise BadInput(
            f"{lacking.path} has no {event} of {' or '.join(wanted)}; it has those of"
            f" {', '.join(labels(lacking, event, on))}: choose with --configurations, or"
            " measure with: halo study eval compare"
        )
    return found


def baseline_of(measurement: Measurement, wanted: str) -> str:
    """The label of the configuration that a program's others are compared with."""
    return wanted if wanted and wanted != FASTEST else fastest_allocator(measurement)


def _name(measurement: Measurement, configs: Sequence[str]) -> str:
    """The label of a program, with a note if no plan was kept and halo is an allocator alone."""
    if HALO in configs and measurement.keeps_none:
        return f"{measurement.program}\n(no plan)"
    return measurement.program


def _note(
    measurements: Sequence[Measurement],
    metric: Metric,
    baselines: Sequence[str],
    configs: Sequence[str],
    options: FigureOptions,
) -> str:
    simulated = any(is_simulated(measurement, metric.event) for measurement in measurements)
    on = options.on
    if simulated:
        assert measurements[0].results.simulation is not None
        on = measurements[0].results.simulation.input
    parts = [f"{metric}, {'simulated' if simulated else 'measured'} on the {on} input"]
    if metric.transform:
        parts.append(f"baseline: {_baselines(measurements, baselines, options.baseline)}")
    if options.trimmed:
        parts.append("means without the best and the worst run")
    if not simulated:
        parts.append("error bars: quartiles")
    if measurements[0].litter:
        parts.append(f"every heap {measurements[0].litter}")
    if HALO in configs and any(measurement.keeps_none for measurement in measurements):
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
