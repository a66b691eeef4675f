"""Time and peak memory of every configuration: rows of a table, and charts with their spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from halo.console.durations import quartiles
from halo.report.bars import Bars, Row, chart
from halo.report.numbers import change, megabytes, seconds
from halo.report.verdict import Verdict
from halo.results import Measurement
from halo.results.metrics import fastest_allocator
from halo.schema.trial import Trials
from halo.trials.candidates import NONE
from halo.trials.racing.gains import HALO
from halo.trials.statistics import Summary, summarize


@dataclass(frozen=True)
class Line:
    """One configuration in the table."""

    label: str
    what: str
    kind: str
    time: str
    quartiles: str
    against: str
    memory: str


def shown_trials(measurement: Measurement) -> Trials:
    """Trials on the reference input; without a plan not halo's, which are an allocator's own."""
    return {
        label: trials
        for label, trials in measurement.reference.items()
        if label != HALO or not measurement.keeps_none
    }


def times_of(measurement: Measurement) -> dict[str, Summary]:
    """Median and quartiles on the reference input, configurations in the order of the file."""
    return {
        label: summarize([trial.wall for trial in trials])
        for label, trials in shown_trials(measurement).items()
    }


def table(measurement: Measurement) -> list[Line]:
    """A row for each configuration; `against` compares its time with the fastest allocator's."""
    times, best = times_of(measurement), fastest_allocator(measurement)
    return [
        Line(
            label=label,
            what=what_is(measurement, label),
            kind=kind_of(label, best),
            time=seconds(time.median),
            quartiles=quartiles(time.first_quartile, time.third_quartile),
            against="fastest" if label == best else change(time.median, times[best].median),
            memory=megabytes(median(t.peak_memory for t in measurement.reference[label])),
        )
        for label, time in times.items()
    ]


def time_chart(measurement: Measurement) -> Bars:
    """Seconds from 0, with quartiles."""
    best = fastest_allocator(measurement)
    rows = [
        Row(
            label=label,
            text=f"{seconds(time.median)} ({quartiles(time.first_quartile, time.third_quartile)})",
            kind=kind_of(label, best),
            value=time.median,
            low=time.first_quartile,
            high=time.third_quartile,
        )
        for label, time in times_of(measurement).items()
    ]
    return chart("seconds on the reference input; shorter is better; whiskers: quartiles", rows)


def memory_chart(measurement: Measurement) -> Bars:
    """Peak memory in MB from 0, with quartiles."""
    best, rows = fastest_allocator(measurement), []
    for label, trials in shown_trials(measurement).items():
        found = summarize([trial.peak_memory / 1e6 for trial in trials])
        text = megabytes(found.median * 1e6)
        kind = kind_of(label, best)
        low, high = found.first_quartile, found.third_quartile
        rows.append(Row(label, text, kind, found.median, low, high))
    return chart("peak memory in MB on the reference input; shorter is better", rows)


def overview(measurements: Sequence[Measurement], verdicts: Sequence[Verdict]) -> Bars | None:
    """Speed-ups of all programs on one axis, from 1; None if there is nothing to compare."""
    rows = []
    for measurement, verdict in zip(measurements, verdicts, strict=True):
        if measurement.summary.speedup is None or measurement.summary.speedup_interval is None:
            continue
        low, high = measurement.summary.speedup_interval
        value = measurement.summary.speedup
        text = f"{value:.2f} ({low:.2f} to {high:.2f})"
        if measurement.keeps_none:
            value, low, high, text = 1.0, 1.0, 1.0, "no plan"
        rows.append(Row(measurement.program, text, verdict.kind, value, low, high))
    if len(rows) < 2:
        return None
    title = "times as fast as the fastest allocator; longer to the right is better; 95 % intervals"
    return chart(title, rows, origin=1.0)


def kind_of(label: str, best: str) -> str:
    """The colour class of a configuration."""
    return "halo" if label == HALO else "best" if label == best else "other"


def what_is(measurement: Measurement, label: str) -> str:
    """A description of a configuration; empty for an allocator under its own name."""
    if label in measurement.allocators:
        return ""
    found = measurement.configurations.get(label)
    if label == HALO:
        found = found or measurement.kept
    if found is None:
        return ""
    if found.strategy == NONE:
        return f"{found.allocator} alone"
    how = f", identified by {found.identification}" if found.identification else ""
    return f"the plan '{found.candidate}' over {found.allocator}{how}"
