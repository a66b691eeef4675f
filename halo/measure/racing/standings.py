"""The race as a table: each candidate's time, and what it changes."""

from __future__ import annotations

from collections.abc import Sequence

from halo.base.console.durations import seconds
from halo.base.console.terminal import TextColumn, TextGrid, TextRow
from halo.base.schema.summary import Change, RacedCandidate

TITLE = "The race, median seconds by the deciding clock; alone: the allocator in the same rounds"


def ordered(candidates: Sequence[RacedCandidate]) -> list[RacedCandidate]:
    """Those that ran: the kept one, then those of the final, then the others, each by time."""
    ran = [one for one in candidates if one.seconds is not None]
    return sorted(ran, key=lambda one: (not one.kept, not one.in_final, one.seconds or 0.0))


def standings(candidates: Sequence[RacedCandidate]) -> TextGrid:
    """A row for each candidate that ran, in the order of `ordered`."""
    chosen = ordered(candidates)
    fields = [
        TextColumn("candidate"),
        TextColumn("time", figures=True),
        TextColumn("alone", figures=True),
        TextColumn("change", figures=True),
        TextColumn("rounds", figures=True),
    ]
    rows = [
        TextRow(
            [
                f"{one.label}{' (kept)' if one.kept else ''}",
                "" if one.seconds is None else seconds(one.seconds),
                "" if one.alone is None else seconds(one.alone),
                change(one.change),
                str(one.trials),
            ],
            last=at + 1 == len(chosen) or one.in_final != chosen[at + 1].in_final,
        )
        for at, one in enumerate(chosen)
    ]
    return TextGrid(fields, rows, TITLE)


def change(found: Change | None) -> str:
    """A change of time in per cent with its interval, such as `-7.9 % (-12.7 to -3.7)`."""
    if found is None:
        return ""
    return f"{found.percent:+.1f} % ({found.low:+.1f} to {found.high:+.1f})"
