"""Shows findings to people: the table of times, the sentence that concludes, what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from halo.allocators import KNOWN, find_allocator
from halo.trials.candidates import NONE
from halo.trials.job import Sample
from halo.trials.results import HALO, Findings, best_baseline, speedup, warnings
from halo.trials.rounds import walls
from halo.trials.statistics import summarize

FEWEST_TRIALS = 5  # fewer give no interval worth the name

COLUMNS = (*KNOWN, HALO)


def table(all_findings: Sequence[Findings]) -> Table:
    """One row of times and one of peak memory for each program."""
    result = Table(title="Seconds on the reference input, median ± half the interquartile range")
    result.add_column("program")
    result.add_column("")
    measured = [name for name in COLUMNS if any(f.reference.get(name) for f in all_findings)]
    for name in measured:
        result.add_column(name, justify="right")
    with_halo = HALO in measured
    if with_halo:
        result.add_column("speed-up over\nthe best of the four", justify="right")
    for findings in all_findings:
        best = best_baseline(findings)
        times = [_time(findings.reference.get(name), name == best) for name in measured]
        memory = [_memory(findings.reference.get(name)) for name in measured]
        gain = [_gain(findings)] if with_halo else []
        result.add_row(findings.program, "time, s", *times, *gain)
        result.add_row("", "peak memory, MB", *memory, end_section=True)
    return result


def _time(samples: Sequence[Sample] | None, best: bool) -> str:
    if not samples:
        return "-"
    summary = summarize(walls(samples))
    half = (summary.third_quartile - summary.first_quartile) / 2
    text = f"{summary.median:.3f} ± {half:.3f}"
    return f"[bold]{text}[/bold]" if best else text


def _memory(samples: Sequence[Sample] | None) -> str:
    return f"{median(s.peak_memory for s in samples) / 1e6:.0f}" if samples else "-"


def _gain(findings: Findings) -> str:
    gain = speedup(findings)
    if gain is None:
        return "-"
    if len(findings.reference[HALO]) < FEWEST_TRIALS:
        return f"{gain.value:.2f} (too few trials)"
    return f"[bold]{gain.value:.2f}[/bold] ({gain.low:.2f} to {gain.high:.2f})"


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
    console = Console(soft_wrap=False)
    if not console.is_terminal:
        console = Console(width=140)
    console.print(table(all_findings))
    for findings in all_findings:
        console.print(conclusion(findings), highlight=False, soft_wrap=True, markup=False)
        if findings.litter is not None:
            text = f"  every heap was aged: {findings.litter}"
            console.print(text, highlight=False, soft_wrap=True, markup=False)
        for warning in warnings(findings):
            text = f"  warning: {warning}"
            console.print(text, highlight=False, soft_wrap=True, markup=False)
