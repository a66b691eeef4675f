"""Prints findings: the table of times, the conclusion, the next command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rich.text import Text

from halo.console.durations import with_spread
from halo.console.terminal import Field, Grid, Row, make_console, show_grid, show_prose
from halo.process.allocators import KNOWN, find_allocator
from halo.schema.trial import Trial
from halo.trials.findings import HALO, Findings, best_baseline, gains, speedup
from halo.trials.placement import (
    MIN_TRIALS,
    PROBE,
    Answer,
    conclude,
    proven_allocator,
    seems_slower,
)
from halo.trials.racing.standings import standings
from halo.trials.results import summarize_findings, warnings
from halo.trials.runs.job import Job, cpu_option, job_options
from halo.trials.runs.rounds import walls
from halo.trials.statistics import Ratio, ratio, summarize

_TRIALS = re.compile(r"--trials (\d+)")
TITLE = "Seconds on the reference input, median ± half the interquartile range"


def table(all_findings: Sequence[Findings]) -> Grid:
    """A row for each configuration of each program; a single program is named in the title.

    Without a plan, halo's trials are those of an allocator alone, and have no row.
    """
    columns = dict.fromkeys([*(f.native.name for f in all_findings), *KNOWN, HALO])
    measured = [name for name in columns if any(_has_row(f, name) for f in all_findings)]
    with_halo = HALO in measured
    several = len(all_findings) != 1
    fields = [
        *([Field("program")] if several else []),
        Field("allocator"),
        Field("time, s", figures=True),
        Field("peak memory, MB", figures=True),
        *([Field("speed-up over the best allocator", figures=True)] if with_halo else []),
    ]
    rows = []
    for findings in all_findings:
        best = best_baseline(findings)
        shown = [name for name in measured if name != HALO or _has_row(findings, HALO)]
        for at, name in enumerate(shown):
            samples = findings.reference.get(name)
            gain = [_gain(findings) if name == HALO else ""] if with_halo else []
            cells = [
                *(["" if at else findings.program] if several else []),
                name,
                _time(samples, name == best),
                _memory(samples),
                *gain,
            ]
            rows.append(Row(cells, last=name == shown[-1]))
    title = TITLE if several else f"{all_findings[0].program}: {TITLE[0].lower()}{TITLE[1:]}"
    return Grid(fields, rows, title)


def _has_row(findings: Findings, name: str) -> bool:
    alone = findings.kept is not None and findings.kept.plan is None
    return bool(findings.reference.get(name)) and not (name == HALO and alone)


def _time(samples: Sequence[Trial] | None, best: bool) -> Text:
    if not samples:
        return Text("-")
    summary = summarize(walls(samples))
    half = (summary.third_quartile - summary.first_quartile) / 2
    return Text(with_spread(summary.median, half), "bold" if best else "")


def _memory(samples: Sequence[Trial] | None) -> str:
    return f"{median(s.peak_memory for s in samples) / 1e6:.0f}" if samples else "-"


def _gain(findings: Findings) -> Text:
    gain = speedup(findings)
    if gain is None:
        return Text("-")
    if len(findings.reference[HALO]) < MIN_TRIALS:
        return Text(f"{gain.value:.2f}\n(too few trials)")
    return Text(f"{gain.value:.2f}\n({gain.low:.2f} to {gain.high:.2f})", "bold")


def next_step(findings: Findings, halo: str, folder: Path, arguments: Sequence[str]) -> str:
    """The next command for this program; empty if there is none.

    It has the kept plan only if that was not slower than an allocator alone on the reference input.
    """
    kept = findings.kept
    if kept is None:
        return ""
    best, trials = best_baseline(findings), findings.reference
    if kept.plan is None or (best is not None and seems_slower(trials, HALO, best)):
        return preloading(findings, arguments)
    plan = str(folder / kept.plan.name)
    command = [halo, "exec", "--plan", plan, "--allocator", kept.allocator.option, "--"]
    return shlex.join([*command, *arguments])


def preloading(findings: Findings, arguments: Sequence[str]) -> str:
    """The program under the fastest allocator; empty unless that certainly beats its own."""
    best = proven_allocator(findings.reference, findings.native.name)
    if best is None:
        return ""
    return shlex.join(["env", f"LD_PRELOAD={find_allocator(best).library}", *arguments])


def remedy(
    findings: Findings,
    halo: str,
    folder: Path,
    job: Job,
    again: Callable[[str], str],
    cpu: int | None = None,
) -> str:
    """The next command if nothing that was found is of use: for an answer, or for its details.

    `again` gives the command that repeats the measurement with that number of trials, or with as
    many as before if it is empty. `cpu`: the value of --cpu.
    """
    found = conclude(findings)
    if found.answer != Answer.CANNOT_TELL:
        return shlex.join([halo, "report", str(folder), "-o", f"{folder.name}.html"])
    needed = found.needed or ""
    if PROBE in needed:
        options = [*cpu_option(cpu), *job_options(job)]
        return " ".join([halo, "probe", *options, "--", shlex.join(job.command)])
    trials = _TRIALS.search(needed)
    return again(trials[1] if trials else "")


def gains_line(findings: Findings) -> str:
    """The gains over glibc and over the fastest allocator; empty after too few trials."""
    kept, mine = findings.kept, findings.reference.get(HALO, [])
    if kept is None or len(mine) < MIN_TRIALS:
        return ""
    what, found = f"the plan '{kept.variant.label}'", gains(findings)
    if kept.plan is None:
        what, found = _gain_alone(findings)
    over = [f"{gain.value:.2f}x over {name}" for name, gain in found.items()]
    return f"{what}: {', '.join(over)} (times as fast on the reference input)" if over else ""


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


def _gain_alone(findings: Findings) -> tuple[str, dict[str, Ratio]]:
    """The fastest allocator, and its gain over the program's own unless that is the one."""
    best, native, trials = best_baseline(findings), findings.native.name, findings.reference
    if best is None or best == native or not trials.get(native):
        return native, {}
    return best, {native: ratio(walls(trials[native]), walls(trials[best]))}


def show(all_findings: Sequence[Findings]) -> None:
    """Prints the table, the sentences and the warnings to stdout."""
    console = make_console()
    if len(all_findings) == 1 and all_findings[0].race:
        show_grid(console, standings(summarize_findings(all_findings[0]).candidates))
    show_grid(console, table(all_findings))
    for findings in all_findings:
        show_prose(console, conclude(findings).sentence)
        if line := gains_line(findings):
            show_prose(console, line, "  ")
        if line := recording_line(findings):
            show_prose(console, line, "  ")
        if findings.litter is not None:
            show_prose(console, f"every heap was aged: {findings.litter}", "  ")
        for warning in warnings(findings):
            show_prose(console, f"warning: {warning}", "  ")
