"""Renders a check: its summary as JSON, the conclusion, the next command."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from statistics import median

from halo.base.console.durations import seconds
from halo.base.schema.check import CheckSummary
from halo.measure.checks.check import CheckAnswer, PlanCheck
from halo.measure.checks.clock import Clock
from halo.measure.checks.sequential import ERROR
from halo.measure.results import measured
from halo.measure.runs.job import Job, cpu_option, job_options, redirection, run_step

_LEADS = {
    CheckAnswer.HELPS: "the plan helps",
    CheckAnswer.DOES_NOT_HELP: "the plan does not help enough",
    CheckAnswer.CANNOT_TELL: "it cannot be told whether the plan helps",
}


def summarize_check(found: PlanCheck, job: Job, plan: Path) -> CheckSummary:
    """What `--json` writes."""
    bounds = (found.interval.low, found.interval.high)
    low, high = (value if math.isfinite(value) else None for value in bounds)
    return CheckSummary(
        program=job.target.path.name,
        plan=str(plan),
        allocator=found.allocator.name,
        answer=found.answer.name.lower().replace("_", "-"),
        sentence=conclusion(found, job, plan),
        needed=needed(found),
        min_speedup=found.min_speedup,
        speedup=found.speedup,
        interval=(low, high),
        error=float(ERROR),
        clock=str(found.clock),
        rounds=len(found.planned),
        planned=measured(found.planned) if found.planned else None,
        alone=measured(found.alone) if found.alone else None,
        seconds=found.seconds,
        outputs_compared=not job.ignore_output,
        warnings=found.warnings,
    )


def conclusion(found: PlanCheck, job: Job, plan: Path) -> str:
    """The answer as one plain sentence."""
    program, lead = job.target.path.name, _LEADS[found.answer]
    if not found.planned:
        taken = f"a round takes {found.round_seconds:.1f} s, so too few fit"
        return f"{program}: {lead}: {taken}; {needed(found)}."
    sentence = f"{program}: {lead}: {_figures(found, plan)}"
    asked = f"at least {found.min_speedup:g} was asked for"
    if found.answer is CheckAnswer.CANNOT_TELL:
        return f"{sentence}, and {asked}; {needed(found)}."
    return f"{sentence}; {asked}."


def _figures(found: PlanCheck, plan: Path) -> str:
    mine, own = (seconds(median(times)) for times in found.times)
    kind = " of processor time" if found.clock is Clock.PROCESSOR else ""
    allocator, low, high = found.allocator.name, found.interval.low, found.interval.high
    bounds = f"95 % interval {low:.2f} to {high:.2f}"
    if not math.isfinite(low):
        bounds = f"no interval after only {len(found.planned)} rounds"
    return (
        f"with {plan.name} over {allocator} it is {found.speedup:.2f} times as fast as with"
        f" {allocator} alone ({bounds}), {mine} s{kind} instead of {own} s"
    )


def needed(found: PlanCheck) -> str | None:
    """How to get an answer; None if there is one."""
    if found.answer is not CheckAnswer.CANNOT_TELL:
        return None
    seconds = found.needed_seconds
    way = "another --min-speedup" if seconds is None else f"--seconds {seconds}"
    return f"repeat it with {way}, or on an idle machine"


def next_step(
    found: PlanCheck, job: Job, plan: Path, halo: str, budget: int, cpu: int | None = None
) -> str:
    """The next command. `budget` and `cpu`: the values of --seconds and --cpu."""
    command = shlex.join(job.command)
    options = [*cpu_option(cpu), *job_options(job)]
    if found.answer is CheckAnswer.DOES_NOT_HELP:
        return run_step(halo, options, job)
    words = ["--plan", str(plan), "--allocator", found.allocator.option]
    chosen = [shlex.quote(word) for word in words]
    if found.answer is CheckAnswer.HELPS:
        return " ".join([halo, "exec", *chosen, "--", command]) + redirection(job)
    chosen += ["--min-speedup", f"{found.min_speedup:g}"]
    chosen += ["--clock", str(found.clock)]
    chosen += ["--seconds", str(found.needed_seconds or budget)]
    return " ".join([halo, "check", *chosen, *options, "--", command])
