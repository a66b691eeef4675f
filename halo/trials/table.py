"""Shows findings to people: the table of times, the sentence that concludes, what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from halo.allocators import KNOWN, find_allocator
from halo.trials.findings import HALO, Findings, best_baseline, speedup
from halo.trials.job import Sample
from halo.trials.placement import MIN_TRIALS, conclude
from halo.trials.results import warnings
from halo.trials.rounds import walls
from halo.trials.statistics import ratio, summarize

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
    if len(findings.reference[HALO]) < MIN_TRIALS:
        return f"{gain.value:.2f} (too few trials)"
    return f"[bold]{gain.value:.2f}[/bold] ({gain.low:.2f} to {gain.high:.2f})"


def next_step(findings: Findings, halo: str, folder: Path, arguments: Sequence[str]) -> str:
    """The command to type next for this program; empty where there is none."""
    kept = findings.kept
    if kept is None:
        return ""
    best = best_baseline(findings)
    gain = speedup(findings)
    if kept.plan is None or (gain is not None and gain.high < 1):
        library = find_allocator(best).library if best else None
        if library is None or best is None or not _beats_glibc(findings, best):
            return ""
        command = ["env", f"LD_PRELOAD={library}"]
    else:
        plan = str(folder / kept.plan.name)
        command = [halo, "exec", "--plan", plan, "--allocator", kept.allocator.name, "--"]
    return shlex.join([*command, *arguments])


def _beats_glibc(findings: Findings, best: str) -> bool:
    """Whether enough trials show that this allocator is faster than the one in use now."""
    mine, glibc = (walls(findings.reference.get(name, [])) for name in (best, "glibc"))
    return min(len(mine), len(glibc)) >= MIN_TRIALS and ratio(glibc, mine).low > 1


def show(all_findings: Sequence[Findings]) -> None:
    """The table, the sentences and the warnings, on stdout."""
    console = Console(soft_wrap=False)
    if not console.is_terminal:
        console = Console(width=140)
    console.print(table(all_findings))
    for findings in all_findings:
        console.print(conclude(findings).sentence, highlight=False, soft_wrap=True, markup=False)
        if findings.litter is not None:
            text = f"  every heap was aged: {findings.litter}"
            console.print(text, highlight=False, soft_wrap=True, markup=False)
        for warning in warnings(findings):
            text = f"  warning: {warning}"
            console.print(text, highlight=False, soft_wrap=True, markup=False)
