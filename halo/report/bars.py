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
class Row:
    """The values of a bar, in the axis' unit."""

    label: str
    text: str
    kind: str
    value: float
    low: float
    high: float


def chart(title: str, rows: Sequence[Row], origin: float = 0.0, unit: str = "") -> Bars:
    """Bars from the origin to their values, on an axis that holds all whiskers."""
    minimum = min([origin, *(row.low for row in rows), *(row.value for row in rows)])
    maximum = max([origin, *(row.high for row in rows), *(row.value for row in rows)])
    step = _step(maximum - minimum)
    # A whisker may exceed the axis by a rounding error.
    first = floor(minimum / step + SLACK)
    last = max(ceil(maximum / step - SLACK), first + 1)

    def place(value: float) -> float:
        return round(100 * (value / step - first) / (last - first), 2)

    bars = [
        Bar(
            label=row.label,
            text=row.text,
            kind=row.kind,
            start=min(place(origin), place(row.value)),
            end=max(place(origin), place(row.value)),
            value=place(row.value),
            low=place(row.low),
            high=place(row.high),
        )
        for row in rows
    ]
    ticks = [Tick(place(at * step), f"{at * step:.6g}{unit}") for at in range(first, last + 1)]
    return Bars(title, bars, ticks, place(origin) if origin else None)


def _step(width: float) -> float:
    """1, 2 or 5 times a power of ten, for three to five steps on an axis of that width."""
    if width <= 0:
        return 1.0
    power: float = 10.0 ** floor(log10(width / 3))
    return next(step for step in (power, 2 * power, 5 * power, 10 * power) if width / step <= 5)
