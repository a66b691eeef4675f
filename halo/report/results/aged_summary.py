"""Shows a measurement on aged heaps: its summary as JSON, and as a table."""

from __future__ import annotations

from halo.base.console.durations import with_spread
from halo.base.console.terminal import (
    TextColumn,
    TextGrid,
    TextRow,
    make_console,
    show_grid,
    show_prose,
)
from halo.base.schema.aged import AgedSummary, AgedTimes, AgedTimesOfLevel
from halo.measure.statistics import Spread, summarize
from halo.report.results.aged_metrics import aged_of, fastest_clean_allocator, own_allocator
from halo.report.results.model import Measurement

WIDE = 0.10  # an interquartile range past this share of the median allows no conclusion


def _times(measurement: Measurement) -> list[tuple[float | None, dict[str, Spread]]]:
    """By occupancy, None for the clean heap, each configuration's wall times."""
    return [
        (
            level.occupancy,
            {
                label: summarize([trial.wall for trial in trials])
                for label, trials in level.trials.items()
            },
        )
        for level in aged_of(measurement).levels
    ]


def _baseline(measurement: Measurement) -> str:
    """What ratios are against: the program's own allocator, else the fastest when clean."""
    return own_allocator(aged_of(measurement)) or fastest_clean_allocator(measurement)


def summarize_aged(measurement: Measurement) -> AgedSummary:
    """What `--json` writes: medians and quartiles by occupancy and configuration."""
    levels = _times(measurement)
    baseline = _baseline(measurement)
    unit = levels[0][1][baseline].median
    return AgedSummary(
        program=measurement.program,
        baseline=baseline,
        multiplier=aged_of(measurement).multiplier,
        levels=tuple(
            AgedTimesOfLevel(
                occupancy,
                {
                    label: AgedTimes(time.median, time.quartiles, time.median / unit, time.count)
                    for label, time in times.items()
                },
            )
            for occupancy, times in levels
        ),
    )


def show_aged(measurement: Measurement) -> None:
    """The table of the study, and what makes it doubtful."""
    console = make_console()
    show_grid(console, aged_grid(measurement))
    times = [time for _, times in _times(measurement) for time in times.values()]
    for warning in (*measurement.summary.warnings, *_wide(times)):
        show_prose(console, f"warning: {warning}", "  ")


def aged_grid(measurement: Measurement) -> TextGrid:
    """Configurations by occupancy, each against the baseline when clean."""
    levels = _times(measurement)
    baseline = _baseline(measurement)
    unit = levels[0][1][baseline].median
    heads = ["clean" if occupancy is None else f"{occupancy:g}" for occupancy, _ in levels]
    return TextGrid(
        [
            TextColumn("configuration", prose=True),
            *(TextColumn(head, figures=True) for head in heads),
        ],
        [
            TextRow([label, *(_cell(times.get(label), unit) for _, times in levels)])
            for label in aged_of(measurement).configurations
        ],
        f"{measurement.program}: seconds by occupancy, and how many times the clean {baseline}",
    )


def _cell(time: Spread | None, unit: float) -> str:
    if time is None:
        return "-"
    half = (time.third_quartile - time.first_quartile) / 2
    return f"{with_spread(time.median, half)}\n({time.median / unit:.2f}x)"


def _wide(times: list[Spread]) -> list[str]:
    wide = sum(time.spread > WIDE for time in times)
    if not wide:
        return []
    return [
        f"Of {wide} of these {len(times)} the middle half of the times spreads over more than 10%"
        " of the median; repeat on a quiet machine or with more --trials."
    ]
