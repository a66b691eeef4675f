"""Prints what the earlier stages of a measurement found that a failure has ended."""

from __future__ import annotations

import shlex
from dataclasses import replace

from halo.console.terminal import make_console, show_grid, show_prose
from halo.process.allocators import find_allocator
from halo.trials.findings import Findings
from halo.trials.placement import conclude, fastest_on_training, is_faster
from halo.trials.racing.standings import standings
from halo.trials.results import summarize_findings, warnings
from halo.trials.runs.job import Job, option_words, redirection
from halo.trials.table import recording_line, show, table


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
    """The program under the fastest allocator if it is surely the fastest; else a measurement."""
    best, native = fastest_on_training(findings), findings.native.name
    library = find_allocator(best).library if best not in (None, native) else None
    if best is None or library is None or not is_faster(findings.training, best, native):
        return shlex.join([halo, "eval", "baseline", *option_words(job), "--", *job.command])
    command = ["env", f"LD_PRELOAD={library}", *job.command]
    return shlex.join(command) + redirection(job)


def _show_training(findings: Findings) -> None:
    console = make_console()
    if findings.race:
        show_grid(console, standings(summarize_findings(findings).candidates))
    grid = table([replace(findings, reference=findings.training)])
    show_grid(console, replace(grid, title=grid.title.replace("reference", "training")))
    show_prose(console, conclude(findings).sentence)
    if line := recording_line(findings):
        show_prose(console, line, "  ")
    for warning in warnings(findings):
        show_prose(console, f"warning: {warning}", "  ")
