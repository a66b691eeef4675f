"""Prints findings: the table of times, the conclusion, the next command."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rich.text import Text

from halo.base.console.durations import with_spread
from halo.base.console.terminal import (
    TextColumn,
    TextGrid,
    TextRow,
    make_console,
    show_grid,
    show_prose,
)
from halo.base.schema.trial import Trial
from halo.binary.process.allocators import alone, find_allocator
from halo.measure.findings import Findings, best_baseline
from halo.measure.placement import Answer, conclude, named
from halo.measure.racing.clock import Clock, processor, wall
from halo.measure.racing.gains import HALO, gain_of, recommended
from halo.measure.racing.sequential import EARLY_LOOK, TWO_SIDED
from halo.measure.racing.standings import standings
from halo.measure.results import summarize_findings, warnings
from halo.measure.statistics import summarize

_TRIALS = re.compile(r"--trials (\d+)")
TITLE = "Seconds of the answer, median ± half the interquartile range"


def table(all_findings: Sequence[Findings]) -> TextGrid:
    """A row for each configuration of each program; a single program is named in the title.

    Without a plan, halo's trials are those of an allocator alone, and have no row.
    """
    several = len(all_findings) != 1
    fields = [
        *([TextColumn("program")] if several else []),
        TextColumn("under"),
        TextColumn("processor, s", figures=True),
        TextColumn("wall clock, s", figures=True),
        TextColumn("peak memory, MB", figures=True),
        TextColumn("times as fast as today", figures=True),
    ]
    rows = []
    for findings in all_findings:
        best, native = best_baseline(findings), findings.native.name
        shown = [it for it in (*findings.allocators, HALO) if _has_row(findings, it)]
        for at, name in enumerate(shown):
            trials = findings.reference[name]
            cells: list[str | Text] = [
                *(["" if at else findings.program] if several else []),
                named(findings, name),
                *(_time(trials, clock, name == best) for clock in (processor, wall)),
                f"{median(it.peak_memory for it in trials) / 1e6:.0f}",
                "" if name == native else _gain(findings, name),
            ]
            rows.append(TextRow(cells, last=name == shown[-1]))
    title = TITLE if several else f"{all_findings[0].program}: {TITLE[0].lower()}{TITLE[1:]}"
    return TextGrid(fields, rows, title)


def _has_row(findings: Findings, name: str) -> bool:
    return bool(findings.reference.get(name)) and (name != HALO or findings.has_plan)


def _time(trials: Sequence[Trial], clock: Clock, best: bool) -> Text:
    summary = summarize([clock(trial) for trial in trials])
    half = (summary.third_quartile - summary.first_quartile) / 2
    return Text(with_spread(summary.median, half), "bold" if best else "")


def _gain(findings: Findings, name: str) -> str:
    gain = gain_of(findings.reference, name, findings.native.name)
    if not gain.rounds:
        return ""
    if gain.rounds < EARLY_LOOK:
        return f"{math.exp(gain.mean):.2f} (too few trials)"
    found = gain.interval(TWO_SIDED)
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def next_step(findings: Findings, halo: str, folder: Path, arguments: Sequence[str]) -> str:
    """The program under what is to be used; empty if that is what it has today."""
    kept = findings.kept
    if kept is None:
        return ""
    use = findings.use
    if use != HALO or kept.plan is None:
        return under_allocator(findings, arguments)
    plan = str(folder / kept.plan.name)
    command = [halo, "exec", "--plan", plan, "--allocator", kept.allocator.option, "--"]
    return shlex.join([*command, *arguments])


def under_allocator(findings: Findings, arguments: Sequence[str]) -> str:
    """The program under the best allocator; empty unless that certainly beats its own."""
    native = findings.native.name
    use = recommended(findings.answers, native, False, findings.objective)
    if use == native:
        return ""
    found = alone({}, findings.known.get(use) or find_allocator(use))
    return shlex.join(["env", *(f"{name}={value}" for name, value in found.items()), *arguments])


def remedy(findings: Findings, halo: str, folder: Path, again: Callable[[str], str]) -> str:
    """The next command if nothing that was found is of use: for an answer, or for its details.

    `again` gives the command that repeats the measurement with that number of trials, or with as
    many as before if it is empty.
    """
    found = conclude(findings)
    if found.answer != Answer.CANNOT_TELL:
        return shlex.join([halo, "report", str(folder), "-o", f"{folder.name}.html"])
    trials = _TRIALS.search(found.needed or "")
    return again(trials[1] if trials else "")


def recording_line(findings: Findings) -> str:
    """The engine of the recording and its cost; empty if none was due."""
    cost = findings.record
    if findings.unrecorded:
        return "nothing was recorded"
    if cost is None:
        return ""
    times = (
        f"{cost.seconds:.1f} s, {cost.slowdown:.1f} times as long as under {findings.native.name}"
    )
    return f"recorded with {cost.engine} in {times}"


def show(all_findings: Sequence[Findings]) -> None:
    """Prints the table, the sentences and the warnings to stdout."""
    console = make_console()
    if len(all_findings) == 1 and all_findings[0].race:
        show_grid(console, standings(summarize_findings(all_findings[0]).candidates))
    show_grid(console, table(all_findings))
    for findings in all_findings:
        found = conclude(findings)
        show_prose(console, found.sentence)
        if found.more:
            show_prose(console, found.more)
        if line := recording_line(findings):
            show_prose(console, line, "  ")
        if findings.litter is not None:
            show_prose(console, f"every heap was aged: {findings.litter}", "  ")
        for warning in warnings(findings):
            show_prose(console, f"warning: {warning}", "  ")
