"""Metrics, written `event@transform` as in the paper's artefact, and their spread.

A value is that of the medians; its quartiles are those of the single rounds, each against the
baseline's run of the same round, so that a slow spell of the machine does not widen them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from halo.base.errors import BadInput, UsageError
from halo.base.schema.simulation import SimulatedRun
from halo.base.schema.trial import Trial, Trials
from halo.measure.racing.clock import Clock, clock_name, processor, wall
from halo.measure.racing.gains import fastest_of
from halo.measure.statistics import summarize, trimmed_mean
from halo.report.results.model import Measurement

REFERENCE, TRAINING = "reference", "training"
INPUTS = (REFERENCE, TRAINING)

TIME = "time"
"""By the deciding clock of the measurement; of aged heaps, by the wall clock."""
MEASURED: Mapping[str, Callable[[Trial], float]] = {
    TIME: wall,
    "user": lambda trial: trial.user,
    "system": lambda trial: trial.system,
    "peak-memory": lambda trial: float(trial.peak_memory),
    "minor-faults": lambda trial: float(trial.minor_faults),
}
SIMULATED: Mapping[str, Callable[[SimulatedRun], float]] = {
    "modelled-cycles": lambda found: float(found.cycles),
    "instructions": lambda found: float(found.instructions),
}
COUNTED = "counted:"
"""Goes before a processor's event that has the name of a simulated one."""
MIN_TRIMMED = 3
"""Runs that a mean without the best and the worst needs."""
TRANSFORMS: Mapping[str, Callable[[float, float], float]] = {
    "improvement": lambda value, base: 100 * (value / base - 1),
    "negimprovement": lambda value, base: 100 * (1 - value / base),
    "speedup": lambda value, base: base / value,
    "relative": lambda value, base: value / base,
}


@dataclass(frozen=True)
class Metric:
    """An event, and a transform (empty: the raw value)."""

    event: str
    transform: str = ""

    def __str__(self) -> str:
        return f"{self.event}@{self.transform}" if self.transform else self.event


@dataclass(frozen=True)
class Value:
    """A metric's value and the quartiles around it; all equal where there was one run."""

    value: float
    low: float
    high: float


def parse_metric(text: str) -> Metric:
    """`event` or `event@transform`; which events there are depends on what was measured."""
    event, at, transform = text.partition("@")
    if not event or (at and transform not in TRANSFORMS):
        raise UsageError(
            f"'{text}' is not a metric; write EVENT or EVENT@TRANSFORM, with the transform one of"
            f" {', '.join(TRANSFORMS)}; for instance time@speedup."
        )
    return Metric(event, transform)


def is_simulated(measurement: Measurement, event: str) -> bool:
    """True for the events of the simulator; they have one value and no rounds."""
    return event in _simulated_events(measurement)


def events(measurement: Measurement, on: str) -> list[str]:
    """All events that were measured of every configuration, the simulated ones last."""
    counted = counted_events(
        trial for found in trials_on(measurement, on).values() for trial in found
    )
    simulated = _simulated_events(measurement)
    taken = {*MEASURED, *simulated}
    return [*MEASURED, *(COUNTED + e if e in taken else e for e in counted), *simulated]


def labels(measurement: Measurement, event: str, on: str) -> list[str]:
    """The configurations of which an event has a value."""
    if is_simulated(measurement, event):
        assert measurement.results.simulation is not None
        return list(measurement.results.simulation.configurations)
    return list(trials_on(measurement, on))


def values(measurement: Measurement, event: str, label: str, on: str) -> list[float]:
    """The event in every run of a configuration; a single value where it was simulated.

    Raises `BadInput`, naming what was measured, where the event or the configuration was not.
    """
    known = events(measurement, on)
    if event not in known:
        raise BadInput(
            f"{measurement.path} has no {event}; measured were: {', '.join(known)}."
            f"{_how_to_get(event)}"
        )
    have = labels(measurement, event, on)
    if label not in have:
        raise BadInput(
            f"{measurement.path} has no {event} of '{label}'; it has those of: {', '.join(have)}."
        )
    if is_simulated(measurement, event):
        return [_simulated(measurement, event, label)]
    if event == TIME:
        clock = clock_of(measurement)
        return [clock(trial) for trial in trials_on(measurement, on)[label]]
    return values_in(trials_on(measurement, on)[label], event)


def counted_events(trials: Iterable[Trial]) -> list[str]:
    """The processor's events, by its names, that every one of these runs counted."""
    everywhere = [set(trial.counters) for trial in trials]
    return sorted(set.intersection(*everywhere)) if everywhere else []


def values_in(trials: Sequence[Trial], event: str) -> list[float]:
    """A measured or counted event in each of these runs, all of which must have it."""
    take = MEASURED.get(event)
    if take is not None:
        return [take(trial) for trial in trials]
    return [trial.counters[event.removeprefix(COUNTED)] for trial in trials]


def evaluate(
    measurement: Measurement,
    metric: Metric,
    label: str,
    baseline: str,
    on: str = REFERENCE,
    trimmed: bool = False,
) -> Value:
    """The metric of one configuration; the baseline plays no part without a transform.

    It is that of medians, or if `trimmed`, of means without the best and the worst run.
    """
    mine = values(measurement, metric.event, label, on)
    if trimmed and len(mine) < MIN_TRIMMED:
        raise BadInput(
            f"{measurement.path} has {len(mine)} of the {MIN_TRIMMED} values of {metric.event} that"
            " a mean without the best and the worst needs; leave out --trimmed."
        )
    middle = trimmed_mean if trimmed else median
    if not metric.transform:
        spread = summarize(mine)
        return _within(middle(mine), spread.quartiles)
    base = values(measurement, metric.event, baseline, on)
    return against(mine, base, metric, f"{measurement.path}: {metric.event}", middle)


def against(
    mine: Sequence[float],
    base: Sequence[float],
    metric: Metric,
    what: str,
    middle: Callable[[Sequence[float]], float] = median,
) -> Value:
    """The transform of paired values, of which `middle` takes the typical one."""
    change = TRANSFORMS[metric.transform]
    try:
        value = change(middle(mine), middle(base))
        spread = summarize([change(*pair) for pair in zip(mine, base, strict=True)])
    except ZeroDivisionError as error:
        raise nothing_to_compare(what) from error
    return _within(value, spread.quartiles)


def _within(value: float, quartiles: tuple[float, float]) -> Value:
    """With quartiles that include the value."""
    return Value(value, min(*quartiles, value), max(*quartiles, value))


def nothing_to_compare(what: str) -> BadInput:
    """The error of a transform that divides by 0; `what` names the event and where it was 0."""
    return BadInput(
        f"{what} was 0 in some run, so nothing can be compared with it; plot it without a"
        " transform."
    )


def fastest_allocator(measurement: Measurement) -> str:
    """The fastest allocator of the answer, with its setting, by the deciding clock."""
    best = fastest_of(measurement.reference, measurement.allocators)
    if best is None:
        raise BadInput(f"{measurement.path} has no trials of an allocator alone; repeat it.")
    return best


def clock_of(measurement: Measurement) -> Clock:
    """The deciding clock of a measurement, by which its times are compared."""
    return processor if measurement.summary.clock == clock_name(processor) else wall


def axis_title(metric: Metric) -> str:
    """What an axis of this metric shows, in words."""
    units = {"time": "s", "user": "s", "system": "s", "peak-memory": "bytes"}
    name = {
        "time": "time",
        "user": "user time",
        "system": "system time",
        "peak-memory": "peak memory",
        "minor-faults": "minor page faults",
    }.get(
        metric.event, metric.event.replace("-", " ") if "misses" in metric.event else metric.event
    )
    unit = units.get(metric.event)
    return {
        "": f"{name}, {unit}" if unit else name,
        "improvement": f"{name}: % over the baseline",
        "negimprovement": f"{name}: % below the baseline",
        "speedup": f"{name}: baseline / value",
        "relative": f"{name}: value / baseline",
    }[metric.transform]


def neutral(metric: Metric) -> float:
    """The value that means: as the baseline."""
    return 1.0 if metric.transform in ("speedup", "relative") else 0.0


def trials_on(measurement: Measurement, on: str) -> Trials:
    if on == REFERENCE:
        return measurement.reference
    if not measurement.results.training:
        raise BadInput(
            f"{measurement.path} has no configurations timed on the training input; measure it"
            " with: halo study eval compare"
        )
    return measurement.results.training


def _simulated_events(measurement: Measurement) -> list[str]:
    if measurement.results.simulation is None:
        return []
    return simulated_events(list(measurement.results.simulation.configurations.values()))


def simulated_events(found: Sequence[SimulatedRun]) -> list[str]:
    """The events that all of these simulated runs, one or more, have."""
    levels = [level for level in found[0].misses if all(level in other.misses for other in found)]
    return [*(f"{level}-misses" for level in levels), *SIMULATED]


def _simulated(measurement: Measurement, event: str, label: str) -> float:
    assert measurement.results.simulation is not None
    return simulated_value(measurement.results.simulation.configurations[label], event)


def simulated_value(found: SimulatedRun, event: str) -> float:
    """One of `simulated_events` in that run."""
    take = SIMULATED.get(event)
    return take(found) if take else float(found.misses[event.removesuffix("-misses")])


def _how_to_get(event: str) -> str:
    if event.endswith("-misses") or event in SIMULATED:
        return " Misses are simulated by: halo study eval compare"
    return ""
