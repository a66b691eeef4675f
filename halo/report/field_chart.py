"""The field as a chart: a row for each configuration, with positions in per cent of a panel."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from halo.base.console.durations import seconds
from halo.measure.racing.clock import clock_name
from halo.measure.racing.sequential import EARLY_LOOK
from halo.measure.results import left_out
from halo.report import field
from halo.report.bars import Axis, Tick, axis_over
from halo.report.field import ConfigurationGroup, Entry, Speed
from halo.report.numbers import megabytes
from halo.report.results import Measurement
from halo.report.results.metrics import clock_of

REACH = 0.5  # of the range of all values: how far a whisker may go beyond it
MARGIN = 0.1  # of that, before the least value: the line of today is not at the edge
BEYOND = 3  # per cent of a panel, of which the axis ends within its last value


@dataclass(frozen=True)
class Mark:
    """A value and its whisker; an end that goes on beyond the panel is open."""

    value: float
    low: float
    high: float
    open_low: bool
    open_high: bool
    memory: float
    text: str
    memory_text: str


@dataclass(frozen=True)
class ChartRow:
    """A configuration; `notes` are below its name."""

    name: str
    kind: str
    raced: Mark | None
    answered: Mark | None
    notes: Sequence[str]
    kept: bool
    used: bool


@dataclass(frozen=True)
class Rows:
    """Rows under a title; `alone` is the place of their allocator without a plan.

    It is None if that is today's, which has a line of its own.
    """

    title: str
    rows: Sequence[ChartRow]
    alone: float | None


@dataclass(frozen=True)
class FieldChart:
    """The chart, and the lines below it: what was left out, and how to read it."""

    today: str
    groups: Sequence[Rows]
    neutral: float
    ticks: Sequence[Tick]
    memory_ticks: Sequence[Tick]
    left_out: Sequence[str]
    notes: Sequence[str]


def field_chart(measurement: Measurement) -> FieldChart:
    """All configurations of a measurement on one axis of time and one of memory."""
    groups, today = field.groups(measurement), field.today(measurement)
    entries = [entry for group in groups for entry in group.entries]
    speeds = [it for one in entries for it in (one.raced, one.answered) if it is not None]
    axis, memory = _axis(speeds), axis_over(0, max(it.memory for it in speeds) / 1e6, most=2)
    return FieldChart(
        today=today,
        groups=[_rows(group, entries, today, axis, memory) for group in groups],
        neutral=axis.place(1.0),
        ticks=axis.ticks(),
        memory_ticks=memory.ticks(),
        left_out=left_out_lines(measurement),
        notes=_notes(measurement, entries),
    )


def left_out_lines(measurement: Measurement) -> list[str]:
    """A sentence for each allocator, setting and deep analysis that has no row."""
    summary = measurement.summary
    failed = [
        left_out(name, summary.program, why, summary.native)
        for name, why in summary.left_out.items()
    ]
    analyses = {it.name: it.why for it in summary.analyses if not it.tried}
    untried = {**summary.untried, **analyses}
    return failed + [f"{name} was not tried: {why}." for name, why in untried.items()]


def _axis(speeds: Sequence[Speed]) -> Axis:
    """An axis that holds all values, and of their whiskers what is not far beyond these."""
    values = [1.0, *(it.value for it in speeds)]
    least, most = min(values), max(values)
    reach = REACH * max(most - least, 0.1)
    low = min([least - MARGIN * reach, *(max(it.low, least - reach) for it in speeds)])
    high = max([most, *(min(it.high, most + reach) for it in speeds)])
    return axis_over(low, high)


def _rows(
    group: ConfigurationGroup, entries: Sequence[Entry], today: str, axis: Axis, memory: Axis
) -> Rows:
    alone = [it.raced.value for it in entries if it.raced and it.name == group.over != today]
    return Rows(
        group.title,
        [_row(entry, axis, memory) for entry in group.entries],
        axis.place(alone[0]) if alone else None,
    )


def _row(entry: Entry, axis: Axis, memory: Axis) -> ChartRow:
    notes = [entry.reach] if entry.reach else []
    if entry.gain is not None:
        notes.append(f"{entry.gain:.2f} times as fast as without it")
    return ChartRow(
        entry.name,
        entry.kind.value,
        _mark(entry.raced, axis, memory),
        _mark(entry.answered, axis, memory, entry.seconds),
        notes,
        entry.kept,
        entry.used,
    )


def _mark(found: Speed | None, axis: Axis, memory: Axis, time: float = 0.0) -> Mark | None:
    if found is None:
        return None
    text, ends = f"{found.value:.2f}", [f"{end:.2f}" for end in (found.low, found.high)]
    if ends[0] != ends[1]:
        text += f" ({ends[0]} to {ends[1]})"
    low, high = axis.place(found.low), axis.place(found.high)
    return Mark(
        axis.place(found.value),
        max(low, 0.0),
        min(high, 100.0),
        low < -BEYOND,
        high > 100 + BEYOND,
        memory.place(found.memory / 1e6),
        f"{text}, {seconds(time)} s" if time else text,
        megabytes(found.memory).removesuffix(" MB"),
    )


def _notes(measurement: Measurement, entries: Sequence[Entry]) -> list[str]:
    """How the chart is read, as far as it has such rows."""
    rounds = min(map(len, measurement.reference.values()))
    whiskers = "the interval of its test"
    if rounds < EARLY_LOOK:
        whiskers = "quartiles, as its test needs more rounds"
    where = f" on another input ({_answered_on(measurement)})" if _is_elsewhere(measurement) else ""
    clock = clock_name(clock_of(measurement))
    notes = [
        f"◆ is the answer{where}. It has {rounds} rounds of its own, which chose nothing."
        f" Its whiskers are {whiskers}, its seconds medians of {clock}."
    ]
    if any(entry.raced for entry in entries):
        notes.append("○ is of the rounds that chose, of which the whiskers are the quartiles.")
    if any(entry.gain is not None for entry in entries):
        notes.append(
            "A setting or plan was compared with its allocator without it, in the rounds of both."
            " That ratio times the allocator's position is its own; whiskers are of the ratio."
            " Rows with equally many rounds ran together."
        )
    return notes


def _is_elsewhere(measurement: Measurement) -> bool:
    """Whether the answer is on another input than the rounds that chose."""
    commands = measurement.results.commands
    reference = commands.get("reference", ())
    # Without a word on what to use, plans were chosen on the recorded input.
    former = commands.get("train", reference) if measurement.summary.use is None else reference
    return commands.get("measured", former) != reference


def _answered_on(measurement: Measurement) -> str:
    return shlex.join(measurement.results.commands["reference"][1:])
