"""What a measurement leaves: the summary made of its findings, every trial, the files."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from halo.allocators import KNOWN
from halo.errors import BadInput
from halo.trials.candidates import NONE, Candidate
from halo.trials.findings import HALO, Findings, RecordCost, best_baseline, speedup, wide_spreads
from halo.trials.job import Sample
from halo.trials.placement import conclude
from halo.trials.rounds import Samples, walls
from halo.trials.statistics import summarize

BUSY = 0.5  # load per core before the measurement starts


def measured(samples: Sequence[Sample]) -> dict[str, Any]:
    """Median, quartiles and peak memory of trials, as the summary shows them."""
    summary = summarize(walls(samples))
    result = {
        "median": summary.median,
        "quartiles": [summary.first_quartile, summary.third_quartile],
        "peak_memory": int(median(sample.peak_memory for sample in samples)),
        "system": median(sample.system for sample in samples),
        "minor_faults": int(median(sample.minor_faults for sample in samples)),
        "trials": summary.count,
    }
    huge = [sample.huge_bytes for sample in samples if sample.runtime]
    if huge:
        result["huge_bytes"] = int(median(huge))
    return result


def summarize_findings(findings: Findings) -> dict[str, Any]:
    """The summary of docs/cli.md; what was not measured is null."""
    kept, gain, verdict = findings.kept, speedup(findings), conclude(findings)
    mine = findings.reference.get(HALO)
    result: dict[str, Any] = {
        "program": findings.program,
        "strategy": kept.recipe.strategy if kept else None,
        "candidate": kept.recipe.label if kept else None,
        "allocator": kept.allocator.name if kept else None,
        "candidates": [_candidate(findings, candidate) for candidate in findings.candidates],
        "allocators": {
            name: measured(findings.reference[name])
            for name in KNOWN
            if findings.reference.get(name)
        },
        "halo": measured(mine) if mine else None,
        "best_baseline": best_baseline(findings),
        "speedup": gain.value if gain else None,
        "speedup_interval": [gain.low, gain.high] if gain else None,
        "verdict": verdict.as_json(),
        "outputs_equal": findings.outputs_equal if findings.outputs_compared else None,
        "outputs_compared": findings.outputs_compared,
        "left_out": dict(findings.left_out),
        "record": _record(findings.record),
        "warnings": warnings(findings),
        "litter": findings.litter.as_json() if findings.litter else None,
    }
    if findings.failure:
        result["failure"] = findings.failure
    return result


def _record(cost: RecordCost | None) -> dict[str, Any] | None:
    return {**asdict(cost), "slowdown": cost.slowdown} if cost else None


def _candidate(findings: Findings, candidate: Candidate) -> dict[str, Any]:
    samples = findings.race.get(candidate.label, [])
    times = summarize(walls(samples)) if samples else None
    return {
        "label": candidate.label,
        "strategy": candidate.recipe.strategy,
        "options": dict(candidate.recipe.options),
        "allocator": candidate.allocator.name,
        "seconds": times.median if times else None,
        "quartiles": [times.first_quartile, times.third_quartile] if times else None,
        "trials": len(samples),
        "kept": candidate == findings.kept,
    }


def warnings(findings: Findings) -> list[str]:
    """Whatever makes the figures doubtful, one sentence each."""
    found = []
    load = findings.machine.get("load_average", [0.0])[0]
    if load > BUSY * findings.machine.get("cores", 1):
        found.append(f"The machine was busy when this started (load average {load:.1f}).")
    wide = [f"{name} ({spread:.0%})" for name, spread in wide_spreads(findings).items()]
    if wide:
        found.append(
            "The times vary much (shown: the interquartile range as a share of the median):"
            f" {', '.join(wide)}; repeat on an idle machine or with more --trials."
        )
    found += [left_out(name, findings.program, why) for name, why in findings.left_out.items()]
    found += findings.remarks
    found += _runtime_warnings(findings)
    cost = findings.record
    if cost is not None and not cost.output_equal:
        found.append(
            "The output under the recorder was not the native one (it emulates another processor)."
        )
    return found


def left_out(allocator: str, program: str, why: str) -> str:
    """The warning about an allocator that could not run the program."""
    return (
        f"{allocator} is left out: under it, {program} does not do what it does under glibc"
        f" ({why})."
    )


def _runtime_warnings(findings: Findings) -> list[str]:
    kept, samples = findings.kept, findings.reference.get(HALO, [])
    if kept is None or kept.recipe.strategy == NONE or not samples:
        return []
    found = []
    if any(s.runtime and not s.runtime.get("active") for c in findings.race.values() for s in c):
        found.append("The runtime was not active under some candidate on the training input.")
    idle = next((s for s in samples if not s.runtime.get("active", False)), None)
    if idle is not None:
        reason = idle.runtime.get("reason") or "it left no report"
        found.append(f"The runtime was not active on the reference input: {reason}.")
    huge = [sample.huge_bytes for sample in samples]
    if max(huge) > 0 and min(huge) < 0.5 * max(huge):
        found.append("The kernel granted huge pages in some trials and not in others.")
    return found


def raw_results(findings: Findings) -> dict[str, Any]:
    """Every trial's values, the machine and the summary."""
    return {
        "format": "halo-results",
        "version": 1,
        "commands": {name: list(command) for name, command in findings.commands.items()},
        "machine": dict(findings.machine),
        "trials": {
            "allocators_on_training": raw_trials(findings.training),
            "candidates_on_training": raw_trials(findings.race),
            "dropped_candidates_on_training": raw_trials(findings.checked),
            "reference": raw_trials(findings.reference),
        },
        "summary": summarize_findings(findings),
    }


def raw_trials(samples: Samples) -> dict[str, list[dict[str, Any]]]:
    """Every trial's values, by label."""
    return {label: [asdict(sample) for sample in found] for label, found in samples.items()}


def write_json(value: Any, path: Path) -> None:
    """Writes the file whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written ({error.strerror}); give another place."
        ) from error
    try:
        with os.fdopen(handle, "w") as stream:
            json.dump(value, stream, indent=2)
            stream.write("\n")
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException as error:
        os.unlink(name)
        if isinstance(error, OSError):
            raise BadInput(
                f"{path} cannot be written ({error.strerror}); give another place."
            ) from error
        raise
