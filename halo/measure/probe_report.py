"""Renders a probe: its summary as JSON, its table, the conclusion, the next command."""

from __future__ import annotations

import shlex

from halo.base.console.durations import with_spread
from halo.base.console.terminal import (
    TextColumn,
    TextGrid,
    TextRow,
    make_console,
    show_grid,
    show_prose,
)
from halo.base.schema.probe import ProbeSummary, RelativeChange
from halo.measure.first_runs import SHORT
from halo.measure.placement import THRESHOLD, percent
from halo.measure.probe import MAX_OBJECT, RANDOM, Probe, ProbeAnswer
from halo.measure.results import measured
from halo.measure.runs.job import Job, cpu_option, job_options, redirection, run_step
from halo.measure.runs.rounds import walls
from halo.measure.statistics import Ratio, summarize

LONGER = 4  # factor for --seconds if the rounds did not suffice


def summarize_probe(found: Probe, job: Job) -> ProbeSummary:
    """What `--json` writes."""
    return ProbeSummary(
        program=job.target.path.name,
        answer=found.answer.name.lower().replace("_", "-"),
        best_baseline=found.best.name,
        allocators={name: measured(trials) for name, trials in found.quick.items()},
        rounds={label: measured(trials) for label, trials in found.rounds.items()},
        between=_change(found.between),
        changes={label: _change(change) for label, change in found.changes.items()},
        small_bytes=found.small_bytes,
        outputs_compared=not job.ignore_output,
        warnings=tuple(warnings(found)),
    )


def _change(of: Ratio) -> RelativeChange:
    return RelativeChange(of.value - 1, (of.low - 1, of.high - 1))


def show_probe(found: Probe, job: Job, seconds: int, halo: str, cpu: int | None = None) -> None:
    """Prints the table, the sentences and the next command to stdout."""
    console = make_console()
    show_grid(console, table(found))
    for warning in warnings(found):
        show_prose(console, f"warning: {warning}")
    show_prose(console, conclusion(found, job.target.path.name))
    print(f"Next: {next_step(found, job, seconds, halo, cpu)}")


def table(found: Probe) -> TextGrid:
    """A row for each allocator, and for each extreme."""
    changes = found.changes
    rows = []
    for name, samples in [*found.quick.items(), *found.rounds.items()]:
        times = summarize(walls(samples))
        half = (times.third_quartile - times.first_quartile) / 2
        again = name == found.best.name and samples is found.rounds[name]
        rows.append(
            TextRow(
                (
                    f"{name}, again" if again else name,
                    str(times.count),
                    with_spread(times.median, half),
                    percent(changes[name]).replace("(", "\n(") if name in changes else "",
                )
            )
        )
    fields = (
        TextColumn("placement"),
        TextColumn("rounds", figures=True),
        TextColumn("time, s", figures=True),
        TextColumn(f"change against {found.best.name}", figures=True),
    )
    return TextGrid(fields, rows, "Seconds, median ± half the interquartile range")


def warnings(found: Probe) -> list[str]:
    """Reasons to doubt the figures, one sentence each."""
    wide = [f"{label} ({spread:.0%})" for label, spread in found.wide.items()]
    if not wide:
        return list(found.warnings)
    return [
        *found.warnings,
        "The times vary much (interquartile range as a share of the median):"
        f" {', '.join(wide)}; repeat on an idle machine or with more --seconds.",
    ]


def conclusion(found: Probe, program: str) -> str:
    """The answer as one plain sentence."""
    if found.has_little_to_place:
        return f"{program} is not placement-sensitive: {_little(found.small_bytes or 0)}."
    between = f"scattering its objects over {RANDOM}, rather than one, {makes(found.between)}"
    if found.answer is ProbeAnswer.CARES and found.gains:
        label, gain = min(found.gains.items(), key=lambda item: item[1].high)
        return f"{program} is placement-sensitive: {label} alone {makes(gain)}."
    if found.answer is ProbeAnswer.CARES:
        return f"{program} is placement-sensitive: {between}."
    if found.answer is ProbeAnswer.DOES_NOT_CARE:
        return (
            f"{program} is not placement-sensitive: no extreme gains {THRESHOLD:.0%}, nor"
            " do they differ by as much."
        )
    if found.is_too_short:
        return (
            f"It cannot be decided with this input whether {program} is placement-sensitive: a run"
            " is mostly the start of the process, which placement does not change; more rounds do"
            f" not help, but a run of {1000 * SHORT:.0f} ms at least."
        )
    return (
        f"It is not decided whether {program} is placement-sensitive: {between}, which is"
        " too wide a range or too near to nothing, or the rounds do not agree."
    )


def _little(small: int) -> str:
    sizes = f"objects of up to {MAX_OBJECT} bytes"
    if not small:
        return f"it allocates no {sizes}, so there is nothing to place"
    return f"its {sizes} take {small} bytes at most, which stay in the first cache at any place"


def makes(change: Ratio) -> str:
    """A change of time in words: `makes it 7.9 % faster (95 % interval 3.7 to 12.7 %)`."""
    slower = change.value > 1
    sign = 1 if slower else -1
    low, high = sorted(100 * sign * (bound - 1) for bound in (change.low, change.high))
    return (
        f"makes it {abs(100 * (change.value - 1)):.1f} % {'slower' if slower else 'faster'}"
        f" (95 % interval {low:.1f} to {high:.1f} %)"
    )


def next_step(found: Probe, job: Job, seconds: int, halo: str, cpu: int | None = None) -> str:
    """The next command. `cpu`: the value of --cpu."""
    command = shlex.join(job.command)
    options = [*cpu_option(cpu), *job_options(job)]
    if found.answer is ProbeAnswer.CARES:
        return run_step(halo, options, job)
    if found.answer is ProbeAnswer.DOES_NOT_CARE:
        library = None if found.has_little_to_place else found.best.library
        preloaded = ["env", f"LD_PRELOAD={library}"] if library else []
        return shlex.join([*preloaded, *job.command]) + redirection(job)
    if found.is_too_short and job.service is None:
        program = shlex.quote(job.target.name)
        return " ".join([halo, "probe", *options, "--", program, "LARGER-ARGS"])
    longer = ["--seconds", str(LONGER * seconds)]
    return " ".join([halo, "probe", *longer, *options, "--", command])
