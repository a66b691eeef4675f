"""The race of the candidates: rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halo.report.numbers import seconds
from halo.results import Measurement
from halo.trials.racing.standings import change, ordered


@dataclass(frozen=True)
class RaceLine:
    """One candidate in the table."""

    label: str
    time: str
    alone: str  # the time of its allocator in the same rounds; empty without a plan
    change: str
    rounds: int
    kept: bool


def race_lines(measurement: Measurement) -> Sequence[RaceLine]:
    """A row for each candidate that ran on the training input, as the terminal has them."""
    return [
        RaceLine(
            one.label,
            seconds(one.seconds or 0.0),
            "" if one.alone is None else seconds(one.alone),
            change(one.change),
            one.trials,
            one.kept,
        )
        for one in ordered(measurement.summary.candidates)
    ]
