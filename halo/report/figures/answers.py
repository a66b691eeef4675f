"""`answers`: what each measurement says to use, over today and over the best allocator."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median

from matplotlib.axes import Axes

from halo.base.errors import BadInput
from halo.measure.racing.clock import clock_name
from halo.measure.racing.gains import HALO, fastest_of, gain_of, peak_memory
from halo.measure.racing.sequential import TWO_SIDED
from halo.measure.statistics import Ratio
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.style import COLOURS, INK, canvas, footnote, save, style_horizontal
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.report.results import Measurement, read_measurements
from halo.report.results.metrics import clock_of

TITLES = (
    *("Program", "Use", "Over today", "Over the best allocator with settings", "That is"),
    *("Seconds", "Peak MB"),
)
WIDTH, ROW, FRAME = 8.6, 0.27, 1.5
"""Inches: of the figure, of a row, and of what is above and below all rows."""
TODAY, BEST = "over today", "over the best allocator with its best setting"
ONE = Ratio(1.0, 1.0, 1.0)


@dataclass(frozen=True)
class AnswerRow:
    """What one measurement says to use; ratios say how many times as fast that is.

    `today` and `best` are over the program's own allocator and over the fastest one with its
    setting, with the intervals of the answer's test. `seconds` and `memory` (bytes) are medians,
    of today and of what is to be used.
    """

    program: str
    use: str
    today: Ratio
    best: Ratio
    allocator: str
    seconds: tuple[float, float]
    memory: tuple[float, float]

    def cells(self) -> tuple[str, ...]:
        seconds = " → ".join(f"{it:.2f}" for it in self.seconds)
        memory = " → ".join(f"{it / 1e6:.0f}" for it in self.memory)
        return (
            *(self.program, self.use, _with_interval(self.today), _with_interval(self.best)),
            *(self.allocator, seconds, memory),
        )

    def record(self) -> dict[str, str | float]:
        return {
            "program": self.program,
            "use": self.use,
            **_record("over_today", self.today),
            **_record("over_best", self.best),
            "allocator": self.allocator,
            "seconds_today": self.seconds[0],
            "seconds": self.seconds[1],
            "peak_memory_today": self.memory[0],
            "peak_memory": self.memory[1],
        }


def _record(name: str, found: Ratio) -> dict[str, float]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


class AnswersFigure:
    name = "answers"
    summary = "what each measurement says to use, over today and over the best allocator"
    endings = (*IMAGES, *TABLES)
    accepts = ()

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        measurements = read_measurements(paths)
        rows = sorted(map(row_of, measurements), key=lambda it: (-it.best.value, -it.today.value))
        if ending in TABLES:
            records = [row.record() for row in rows]
            return Table(TITLES, [row.cells() for row in rows], records, names=2).to_file(ending)
        return draw(rows, _note(measurements, rows), ending)


def row_of(measurement: Measurement) -> AnswerRow:
    """By the deciding clock, in the rounds of the answer."""
    summary, trials = measurement.summary, measurement.reference
    use, native = summary.use, summary.native
    best = fastest_of(trials, measurement.allocators)
    if use is None or best is None or not (trials.get(use) and trials.get(native)):
        raise BadInput(
            f"{measurement.path} does not say what to use, as earlier versions did not; measure"
            " again."
        )
    clock = clock_of(measurement)
    pair = trials[native], trials[use]
    today, mine = (median(map(clock, it)) for it in pair)
    return AnswerRow(
        measurement.program,
        f"{summary.candidate} over {summary.allocator}" if use == HALO else use,
        _over(measurement, use, native),
        _over(measurement, use, best),
        best,
        (today, mine),
        (peak_memory(pair[0]), peak_memory(pair[1])),
    )


def _over(measurement: Measurement, one: str, other: str) -> Ratio:
    if one == other:
        return ONE
    return gain_of(measurement.reference, one, other).interval(TWO_SIDED)


def _with_interval(found: Ratio) -> str:
    return "1" if found == ONE else f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def _note(measurements: Sequence[Measurement], rows: Sequence[AnswerRow]) -> str:
    today, best = (geometric_mean([it.value for it in column]) for column in _columns(rows))
    clocks = {clock_name(clock_of(it)) for it in measurements}
    allocators = dict.fromkeys(
        name for it in measurements for name in it.allocators if ":" not in name
    )
    return (
        f"Geometric means: {today:.2f} over today, {best:.2f} over the best allocator with its best"
        f" setting. Whiskers are the intervals of the answer's test, by {' or '.join(clocks)}."
        f" Allocators: {', '.join(allocators)}. {measurements[0].machine.processor}."
    )


def _columns(rows: Sequence[AnswerRow]) -> tuple[list[Ratio], list[Ratio]]:
    return [row.today for row in rows], [row.best for row in rows]


def draw(rows: Sequence[AnswerRow], note: str, ending: str) -> bytes:
    """A row for each program; a circle is over today, and a diamond over the best allocator."""
    with canvas(WIDTH, FRAME + ROW * len(rows)) as drawing:
        axes = drawing.subplots()
        style_horizontal(axes)
        places = [-float(number) for number in range(len(rows))]
        today, best = _columns(rows)
        _draw_points(axes, places, today, TODAY, "o", COLOURS[4], 0.16)
        _draw_points(axes, places, best, BEST, "D", COLOURS[0], -0.16)
        axes.axvline(1.0, color=INK, linewidth=0.9)
        axes.set_yticks(places, [f"{row.program}: {_short(row)}" for row in rows])
        axes.set_ylim(places[-1] - 0.6, 0.6)
        axes.set_xlim(*_limits([*today, *best]))
        axes.set_xlabel("times as fast")
        drawing.legend(
            title="What halo says to use",
            title_fontsize=11,
            alignment="left",
            loc="outside upper left",
            ncols=2,
            frameon=False,
            fontsize=8.5,
        )
        footnote(drawing, textwrap.fill(note, int(WIDTH * 16)))
        return save(drawing, ending)


def _short(row: AnswerRow) -> str:
    plan, is_plan, _ = row.use.partition(" over ")
    return f"plan {plan}" if is_plan else "as it is" if row.today == ONE else row.use


def _draw_points(
    axes: Axes,
    places: Sequence[float],
    values: Sequence[Ratio],
    label: str,
    marker: str,
    colour: str,
    shift: float,
) -> None:
    axes.errorbar(
        [it.value for it in values],
        [place + shift for place in places],
        xerr=[[it.value - it.low for it in values], [it.high - it.value for it in values]],
        fmt=marker,
        color=colour,
        ecolor=INK,
        elinewidth=0.7,
        capsize=1.5,
        markersize=4.5,
        label=label,
    )


def _limits(values: Sequence[Ratio]) -> tuple[float, float]:
    """All values, and whiskers that do not go far beyond these."""
    least, most = min(it.value for it in values), max(it.value for it in values)
    reach = max(0.1, (most - least) / 4)
    low = max(min(it.low for it in values), least - reach)
    high = min(max(it.high for it in values), most + reach)
    return min(low, 0.98) - 0.02, max(high, 1.02) + 0.02
