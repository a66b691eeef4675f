"""The speed-ups of several programs on one axis."""

from __future__ import annotations

from collections.abc import Sequence

from halo.report.bars import BarRow, Bars, chart
from halo.report.results import Measurement
from halo.report.verdict import Verdict


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
        rows.append(BarRow(measurement.program, text, verdict.kind, value, low, high))
    if len(rows) < 2:
        return None
    title = "times as fast as the fastest allocator; longer to the right is better; 95 % intervals"
    return chart(title, rows, origin=1.0)
