"""Computes the bars of a chart, with positions in per cent of the page's width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

SLACK = 0.05
"""The share of a step by which values may exceed the first and the last one."""


@dataclass(frozen=True)
class Bar:
    """A bar from `start` to `end`, its value and whiskers, in per cent; `kind` is its colour."""

    label: str
    text: str
    kind: str
    start: float
    end: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Tick:
    """A position on the axis, in per cent, and its label."""

    place: float
    text: str


@dataclass(frozen=True)
class Bars:
    """A chart: `title` describes the axis; `neutral` is the place of a reference line, or None."""

    title: str
    bars: Sequence[Bar]
    ticks: Sequence[Tick]
    neutral: float | None = None


@dataclass(frozen=True)
class BarRow:
    """The values of a bar, in the axis' unit."""

    label: str
    text: str
    kind: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Axis:
    """An axis from `first` to `last` steps of that size."""

    step: float
    first: int
    last: int

    def place(self, value: float) -> float:
        """The position of a value, in per cent."""
        return round(100 * (value / self.step - self.first) / (self.last - self.first), 2)

    def ticks(self, unit: str = "") -> list[Tick]:
        steps = range(self.first, self.last + 1)
        return [Tick(self.place(at * self.step), f"{at * self.step:.6g}{unit}") for at in steps]


def axis_over(minimum: float, maximum: float, most: int = 5) -> Axis:
    """An axis that holds both values, with that many steps at most, or one or two more."""
    step = _step(maximum - minimum, most)
    # A whisker may exceed the axis by a rounding error.
    first = floor(minimum / step + SLACK)
    return Axis(step, first, max(ceil(maximum / step - SLACK), first + 1))


def chart(title: str, rows: Sequence[BarRow], origin: float = 0.0, unit: str = "") -> Bars:
    """Bars from the origin to their values, on an axis that holds all whiskers."""
    minimum = min([origin, *(row.low for row in rows), *(row.value for row in rows)])
    maximum = max([origin, *(row.high for row in rows), *(row.value for row in rows)])
    axis = axis_over(minimum, maximum)
    bars = [
        Bar(
            label=row.label,
            text=row.text,
            kind=row.kind,
            start=min(axis.place(origin), axis.place(row.value)),
            end=max(axis.place(origin), axis.place(row.value)),
            value=axis.place(row.value),
            low=axis.place(row.low),
            high=axis.place(row.high),
        )
        for row in rows
    ]
    return Bars(title, bars, axis.ticks(unit), axis.place(origin) if origin else None)


def _step(width: float, most: int) -> float:
    """The least of 1, 2 or 5 times a power of ten that divides the width into so few steps."""
    if width <= 0:
        return 1.0
    power: float = 10.0 ** floor(log10(width / most))
    return next(step for step in (power, 2 * power, 5 * power, 10 * power) if width / step <= most)
