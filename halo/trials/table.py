"""Shows findings to people: the table of times, the sentence that concludes, what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from rich.text import Text

from halo.allocators import KNOWN, find_allocator
from halo.terminal import Field, Grid, Row, make_console, show_grid, show_prose
from halo.trials.candidates import NONE
from halo.trials.job import Sample
from halo.trials.results import HALO, Findings, best_baseline, speedup, warnings
from halo.trials.rounds import walls
from halo.trials.statistics import summarize

FEWEST_TRIALS = 5  # fewer give no interval worth the name

COLUMNS = (*KNOWN, HALO)


TITLE = "Seconds on the reference input, median ± half the interquartile range"


def table(all_findings: Sequence[Findings]) -> Grid:
    """A row for each contender of each program, which the title names where it is the only one."""
    measured = [name for name in COLUMNS if any(f.reference.get(name) for f in all_findings)]
    with_halo = HALO in measured
    several = len(all_findings) != 1
    fields = [
        *([Field("program")] if several else []),
        Field("allocator"),
        Field("time, s", figures=True),
        Field("peak memory, MB", figures=True),
        *([Field("speed-up over the best of the four", figures=True)] if with_halo else []),
    ]
    rows = []
    for findings in all_findings:
        best = best_baseline(findings)
        for at, name in enumerate(measured):
            samples = findings.reference.get(name)
            gain = [_gain(findings) if name == HALO else ""] if with_halo else []
            cells = [
                *(["" if at else findings.program] if several else []),
                name,
                _time(samples, name == best),
                _memory(samples),
                *gain,
            ]
            rows.append(Row(cells, last=name == measured[-1]))
    title = TITLE if several else f"{all_findings[0].program}: {TITLE[0].lower()}{TITLE[1:]}"
    return Grid(fields, rows, title)


def _time(samples: Sequence[Sample] | None, best: bool) -> Text:
    if not samples:
        return Text("-")
    summary = summarize(walls(samples))
    half = (summary.third_quartile - summary.first_quartile) / 2
    return Text(f"{summary.median:.3f} ± {half:.3f}", "bold" if best else "")


def _memory(samples: Sequence[Sample] | None) -> str:
    return f"{median(s.peak_memory for s in samples) / 1e6:.0f}" if samples else "-"


def _gain(findings: Findings) -> Text:
    gain = speedup(findings)
    if gain is None:
        return Text("-")
    if len(findings.reference[HALO]) < FEWEST_TRIALS:
        return Text(f"{gain.value:.2f}\n(too few trials)")
    return Text(f"{gain.value:.2f}\n({gain.low:.2f} to {gain.high:.2f})", "bold")


def conclusion(findings: Findings) -> str:
    """One plain sentence about what was found."""
    program, best, kept, gain = (
        findings.program,
        best_baseline(findings),
        findings.kept,
        speedup(findings),
    )
    if kept is None or gain is None:
        return f"{program}: the fastest allocator is {best}."
    if kept.recipe.strategy == NONE:
        if all(candidate.plan is None for candidate in findings.candidates):
            return f"{program}: there was no plan to try; run it with {best}."
        return (
            f"{program}: no plan was measurably faster on the training input: this program does not"
            f" care about placement; run it with {best}."
        )
    if len(findings.reference[HALO]) < FEWEST_TRIALS:
        return f"{program}: too few trials to conclude from."
    what = f"halo kept the plan '{kept.recipe.label}' over {kept.allocator.name}"
    if gain.low > 1:
        times = f"{gain.value:.2f} times as fast as"
        return f"{program}: {what}: {times} the best of the four ({best})."
    if gain.high < 1:
        return (
            f"{program}: {what}, but the gain on the training input did not carry over to the"
            f" reference input: {gain.value:.2f} times as fast as {best}; use {best}."
        )
    return f"{program}: {what}; on the reference input it is no different from {best}."


def next_step(findings: Findings, halo: str, folder: Path, arguments: Sequence[str]) -> str:
    """The command to type next for this program; empty where there is none."""
    kept = findings.kept
    if kept is None:
        return ""
    best = best_baseline(findings)
    gain = speedup(findings)
    if kept.plan is None or (gain is not None and gain.high < 1):
        library = find_allocator(best).library if best else None
        if library is None:
            return ""
        command = ["env", f"LD_PRELOAD={library}"]
    else:
        plan = str(folder / kept.plan.name)
        command = [halo, "exec", "--plan", plan, "--allocator", kept.allocator.name, "--"]
    return shlex.join([*command, *arguments])


def show(all_findings: Sequence[Findings]) -> None:
    """The table, the sentences and the warnings, on stdout."""
    console = make_console()
    show_grid(console, table(all_findings))
    for findings in all_findings:
        show_prose(console, conclusion(findings))
        if findings.litter is not None:
            show_prose(console, f"every heap was aged: {findings.litter}", "  ")
        for warning in warnings(findings):
            show_prose(console, f"warning: {warning}", "  ")
