"""Metrics on aged heaps: every level compared with one configuration's median on the clean heap."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from halo.base.errors import BadInput
from halo.base.schema.aged import Aged, AgedLevel, AllocatorKind
from halo.measure.statistics import summarize
from halo.report.results.metrics import (
    COUNTED,
    MEASURED,
    TRANSFORMS,
    Metric,
    Value,
    counted_events,
    nothing_to_compare,
    simulated_events,
    simulated_value,
    values_in,
)
from halo.report.results.model import Measurement


@dataclass(frozen=True)
class AgedSeries:
    """One configuration: its label, and a value for each level, None where it has no trials."""

    label: str
    values: tuple[Value | None, ...]


def aged_of(measurement: Measurement) -> Aged:
    """What was measured on aged heaps; `BadInput` where nothing was."""
    if measurement.results.aged is None:
        raise BadInput(
            f"{measurement.path} was not measured on aged heaps; halo study heap age does that."
        )
    return measurement.results.aged


def aged_simulated(aged: Aged) -> list[str]:
    """The events that were simulated at every level of every configuration that ran there."""
    if any(set(level.trials) - set(level.runs) for level in aged.levels):
        return []
    return simulated_events([run for level in aged.levels for run in level.runs.values()])


def aged_events(aged: Aged) -> list[str]:
    """The events that every run at every level has, the simulated ones last."""
    counted = counted_events(
        trial for level in aged.levels for trials in level.trials.values() for trial in trials
    )
    simulated = aged_simulated(aged)
    taken = {*MEASURED, *simulated}
    return [*MEASURED, *(COUNTED + e if e in taken else e for e in counted), *simulated]


def own_allocator(aged: Aged) -> str | None:
    """The configuration that is the program's own (custom) allocator; None where there is none."""
    found = (label for label, it in aged.configurations.items() if it.kind is AllocatorKind.CUSTOM)
    return next(found, None)


def fastest_clean_allocator(measurement: Measurement) -> str:
    """The allocator with the least median time on the clean heap."""
    aged = aged_of(measurement)
    times = {
        label: median(trial.wall for trial in aged.clean.trials[label])
        for label, it in aged.configurations.items()
        if it.kind is AllocatorKind.ALLOCATOR and label in aged.clean.trials
    }
    if not times:
        raise BadInput(
            f"{measurement.path} has no allocator alone on the clean heap; choose a --baseline of:"
            f" {', '.join(aged.clean.trials)}."
        )
    return min(times, key=lambda label: times[label])


def aged_series(measurement: Measurement, metric: Metric, label: str, baseline: str) -> AgedSeries:
    """The metric at every level, as `Aged` orders them; the quartiles are those of the runs.

    `BadInput` names what there is if the event was not measured in every run, if configuration or
    baseline were not measured, and if the baseline's median is 0.
    """
    aged = aged_of(measurement)
    known = aged_events(aged)
    event = metric.event if metric.event in known else metric.event.removeprefix(COUNTED)
    if event not in known:
        raise BadInput(
            f"{measurement.path} has no {metric.event} on aged heaps; measured there were:"
            f" {', '.join(known)}."
        )
    if label not in aged.configurations:
        raise BadInput(
            f"{measurement.path} has no '{label}' on aged heaps; it has:"
            f" {', '.join(aged.configurations)}."
        )
    if baseline not in aged.clean.trials:
        raise BadInput(
            f"{measurement.path} has no '{baseline}' on the clean heap to set others against; it"
            f" has: {', '.join(aged.clean.trials)}."
        )
    base = median(_values(aged, aged.clean, baseline, event))
    try:
        found = tuple(_value(aged, level, label, event, metric, base) for level in aged.levels)
    except ZeroDivisionError as error:
        raise nothing_to_compare(f"{measurement.path}: {event}") from error
    return AgedSeries(label, found)


def _values(aged: Aged, level: AgedLevel, label: str, event: str) -> list[float]:
    """In every run at that level; a single value where it was simulated."""
    if event in aged_simulated(aged):
        return [simulated_value(level.runs[label], event)]
    return values_in(level.trials[label], event)


def _value(
    aged: Aged, level: AgedLevel, label: str, event: str, metric: Metric, base: float
) -> Value | None:
    if not level.trials.get(label):
        return None
    spread = summarize(_values(aged, level, label, event))
    ends = spread.first_quartile, spread.third_quartile
    if not metric.transform:
        return Value(spread.median, *ends)
    change = TRANSFORMS[metric.transform]
    low, high = sorted(change(end, base) for end in ends)
    return Value(change(spread.median, base), low, high)
