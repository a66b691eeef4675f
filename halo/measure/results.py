"""What a measurement leaves: the summary made of its findings, every trial, the files."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from statistics import median

from msgspec import UNSET

from halo.base.schema.results import FORMAT, VERSION, MeasuredTrials, Results
from halo.base.schema.summary import Change, RacedCandidate, Summary, Times
from halo.base.schema.trial import Trial
from halo.binary.process.allocators import Allocator
from halo.measure.candidates import NONE, Candidate
from halo.measure.findings import Findings, best_baseline, speedup, wide_spreads
from halo.measure.placement import PlanChange, answer_clock, conclude, plan_changes
from halo.measure.racing.clock import clock_name, deciding_clock
from halo.measure.racing.gains import HALO, gain_of
from halo.measure.racing.sequential import TWO_SIDED
from halo.measure.runs.rounds import walls
from halo.measure.statistics import Ratio, summarize

BUSY = 0.5  # load per core before the measurement starts


def measured(trials: Sequence[Trial]) -> Times:
    """Median, quartiles and peak memory of trials, as the summary shows them."""
    summary = summarize(walls(trials))
    huge = [trial.huge_bytes for trial in trials if trial.runtime]
    return Times(
        median=summary.median,
        quartiles=summary.quartiles,
        peak_memory=int(median(trial.peak_memory for trial in trials)),
        system=median(trial.system for trial in trials),
        minor_faults=int(median(trial.minor_faults for trial in trials)),
        trials=summary.count,
        huge_bytes=int(median(huge)) if huge else UNSET,
    )


def summarize_findings(findings: Findings) -> Summary:
    """The summary; what was not measured is None."""
    if findings.answered is not None:
        return findings.answered
    kept, gain = findings.kept, speedup(findings)
    use, today = used(findings)
    mine = findings.reference.get(HALO)
    changes = {it.label: it for it in plan_changes(findings)}
    return Summary(
        program=findings.program,
        strategy=kept.variant.strategy if kept else None,
        candidate=kept.variant.label if kept else None,
        allocator=kept.allocator.name if kept else None,
        candidates=tuple(
            _candidate(findings, it, changes.get(it.label)) for it in findings.candidates
        ),
        allocators={
            name: measured(findings.reference[name])
            for name in findings.allocators
            if findings.reference.get(name)
        },
        halo=measured(mine) if mine else None,
        best_baseline=best_baseline(findings),
        speedup=gain.value if gain else None,
        speedup_interval=(gain.low, gain.high) if gain and isfinite(gain.high) else None,
        verdict=conclude(findings),
        outputs_equal=findings.outputs_equal if findings.outputs_compared else None,
        outputs_compared=findings.outputs_compared,
        left_out=findings.left_out,
        untried=findings.untried,
        record=findings.record,
        unrecorded=findings.unrecorded,
        warnings=tuple(warnings(findings)),
        litter=findings.litter.settings() if findings.litter else None,
        failure=findings.failure or UNSET,
        native=findings.native.name,
        use=use,
        options={
            name: allocator.option
            for name, allocator in findings.known.items()
            if allocator.option != name
        },
        objective=findings.objective.value,
        analyses=tuple(findings.analyses),
        clock=clock_name(answer_clock(findings)) if findings.reference else "",
        over_native=today.value if today else None,
        over_native_interval=(today.low, today.high) if today else None,
    )


def used(findings: Findings) -> tuple[str | None, Ratio | None]:
    """What to use, and how many times as fast it is as the program's own allocator."""
    trials, native = findings.reference, findings.native.name
    if not trials.get(native):
        return None, None
    use = findings.use
    return use, None if use == native else gain_of(trials, use, native).interval(TWO_SIDED)


def _candidate(
    findings: Findings, candidate: Candidate, change: PlanChange | None
) -> RacedCandidate:
    trials = findings.final.get(candidate.label) or findings.race.get(candidate.label, [])
    clock = deciding_clock(trials)
    seconds = change.mine if change is not None else [clock(it) for it in trials]
    times = summarize(seconds) if seconds else None
    return RacedCandidate(
        label=candidate.label,
        strategy=candidate.variant.strategy,
        options=candidate.variant.options,
        allocator=candidate.allocator.name,
        seconds=times.median if times else None,
        quartiles=times.quartiles if times else None,
        alone=median(change.own) if change is not None else None,
        trials=len(seconds),
        kept=candidate == findings.kept,
        in_final=candidate.label in findings.final,
        change=Change(*change.percents) if change is not None else None,
    )


def warnings(findings: Findings) -> list[str]:
    """Whatever makes the figures doubtful, one sentence each."""
    if findings.answered is not None:
        return list(findings.answered.warnings)
    found = native_remarks(findings.native, findings.program)
    load = findings.machine.load_average[0]
    if load > BUSY * findings.machine.cores:
        found.append(f"The machine was busy when this started (load average {load:.1f}).")
    wide = [f"{name} ({spread:.0%})" for name, spread in wide_spreads(findings).items()]
    if wide:
        found.append(
            "The times vary much (shown: the interquartile range as a share of the median):"
            f" {', '.join(wide)}; repeat on an idle machine or with more --trials."
        )
    found += [
        left_out(name, findings.program, why, findings.native.name)
        for name, why in findings.left_out.items()
    ]
    found += findings.remarks
    found += _runtime_warnings(findings)
    cost = findings.record
    if cost is not None and not cost.output_equal and findings.outputs_compared:
        found.append(
            "The output under the recorder was not the native one (it emulates another processor)."
        )
    return found


def native_remarks(native: Allocator, program: str) -> list[str]:
    """What the first row of the tables is, if it is not glibc."""
    if native.own is None:
        return []
    by = "LD_PRELOAD names" if native.named else "it is linked with"
    return [
        f"Without halo, {program} has the allocator {native.name}, which {by}: the row"
        f" {native.name} is in place of glibc's, which was not measured."
    ]


def left_out(allocator: str, program: str, why: str, native: str) -> str:
    """The warning about an allocator that could not run the program."""
    return (
        f"{allocator} is left out: under it, {program} does not do what it does under {native}"
        f" ({why})."
    )


def _runtime_warnings(findings: Findings) -> list[str]:
    kept, final = findings.kept, findings.reference.get(HALO, [])
    found = _taken(findings)
    if kept is None or kept.variant.strategy == NONE or not final:
        return found
    raced = [*findings.race.values(), *findings.final.values()]
    if any(t.runtime and not t.runtime.get("active") for trials in raced for t in trials):
        found.append("The runtime was not active under some candidate of the race.")
    idle = next((t for t in final if not t.runtime.get("active", False)), None)
    if idle is not None:
        reason = idle.runtime.get("reason") or "it left no report"
        found.append(f"The runtime was not active on the reference input: {reason}.")
    huge = [trial.huge_bytes for trial in final]
    if max(huge) > 0 and min(huge) < 0.5 * max(huge):
        found.append("The kernel granted huge pages in some trials and not in others.")
    return found


def _taken(findings: Findings) -> list[str]:
    """A sentence if another library puts itself between the program and malloc."""
    groups = (findings.race, findings.final, findings.reference)
    trials = [trial for found in groups for its in found.values() for trial in its]
    takers = {it.runtime.get("calls_taken_by", "") for it in trials} - {""}
    return [
        f"Calls of malloc lead to {Path(taker).name}. A plan knows no callers behind it, unless it"
        " was there when the program was recorded."
        for taker in sorted(takers)
    ]


def raw_results(findings: Findings) -> Results:
    """Every trial's values, the machine and the summary."""
    return Results(
        format=FORMAT,
        version=VERSION,
        commands={name: tuple(command) for name, command in findings.commands.items()},
        machine=findings.machine,
        trials=MeasuredTrials(
            allocators_on_training=findings.training,
            settings_on_training=findings.settings,
            candidates_on_training=findings.race,
            finalists_on_training=findings.final,
            reference=findings.reference,
        ),
        summary=summarize_findings(findings),
    )
