"""Prints what the earlier stages of a measurement found that a failure has ended."""

from __future__ import annotations

import shlex
from dataclasses import replace

from halo.base.console.terminal import make_console, show_grid, show_prose
from halo.measure.findings import Findings
from halo.measure.placement import conclude
from halo.measure.racing.standings import standings
from halo.measure.results import summarize_findings, warnings
from halo.measure.runs.job import Job, option_words, redirection
from halo.measure.table import recording_line, show, table, under_allocator


def show_ended(findings: Findings, halo: str, job: Job) -> None:
    """The tables, the conclusion and the next command; nothing if nothing was measured.

    `job` has the reference input.
    """
    if findings.reference:
        show([findings])
    elif findings.training:
        _show_training(findings)
    if findings.training:
        print(f"Next: {next_command(findings, halo, job)}")


def next_command(findings: Findings, halo: str, job: Job) -> str:
    """The program under an allocator that is certainly faster; else a measurement."""
    known = replace(findings, reference=findings.training, verdict=None)
    step = under_allocator(known, job.command)
    if not step:
        return shlex.join(
            [halo, "study", "eval", "baseline", *option_words(job), "--", *job.command]
        )
    return step + redirection(job)


def _show_training(findings: Findings) -> None:
    console = make_console()
    if findings.race:
        show_grid(console, standings(summarize_findings(findings).candidates))
    grid = table([replace(findings, reference=findings.training)])
    show_grid(console, replace(grid, title=grid.title.replace("the answer", "the first rounds")))
    show_prose(console, conclude(findings).sentence)
    if line := recording_line(findings):
        show_prose(console, line, "  ")
    for warning in warnings(findings):
        show_prose(console, f"warning: {warning}", "  ")
