"""What a measurement leaves: findings as they come in, the summary made of them, the files."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from halo.aging import Litter
from halo.allocators import KNOWN
from halo.errors import BadInput
from halo.trials.candidates import NONE, Candidate
from halo.trials.job import Sample
from halo.trials.race import Verdict
from halo.trials.rounds import Samples, walls
from halo.trials.statistics import Ratio, ratio, summarize

HALO = "halo"
WIDE = 0.10  # an interquartile range past this share of the median allows no conclusion
BUSY = 0.5  # load per core before the measurement starts


@dataclass(frozen=True)
class RecordCost:
    """What recording the training run took, and whether its output was the native one."""

    seconds: float
    native_seconds: float
    output_equal: bool

    @property
    def slowdown(self) -> float:
        return self.seconds / self.native_seconds


@dataclass
class Findings:
    """All that is known so far; a failure half-way leaves the rest empty."""

    program: str
    commands: Mapping[str, Sequence[str]]
    machine: Mapping[str, Any]
    training: Samples = field(default_factory=dict)
    record: RecordCost | None = None
    candidates: Sequence[Candidate] = ()
    race: Samples = field(default_factory=dict)
    verdict: Verdict | None = None
    reference: Samples = field(default_factory=dict)
    outputs_equal: bool = True
    failure: str = ""
    litter: Litter | None = None

    @property
    def kept(self) -> Candidate | None:
        if self.verdict is None:
            return None
        return next(c for c in self.candidates if c.label == self.verdict.kept)


def measured(samples: Sequence[Sample]) -> dict[str, Any]:
    """Median, quartiles and peak memory of trials, as the summary shows them."""
    summary = summarize(walls(samples))
    result = {
        "median": summary.median,
        "quartiles": [summary.first_quartile, summary.third_quartile],
        "peak_memory": int(median(sample.peak_memory for sample in samples)),
        "trials": summary.count,
    }
    huge = [sample.huge_bytes for sample in samples if sample.runtime]
    if huge:
        result["huge_bytes"] = int(median(huge))
    return result


def best_baseline(findings: Findings) -> str | None:
    """The allocator with the least median on the reference input."""
    names = [name for name in KNOWN if findings.reference.get(name)]
    return min(names, key=lambda n: median(walls(findings.reference[n])), default=None)


def speedup(findings: Findings) -> Ratio | None:
    """The best baseline's median over halo's."""
    best = best_baseline(findings)
    if best is None or not findings.reference.get(HALO):
        return None
    return ratio(walls(findings.reference[best]), walls(findings.reference[HALO]))


def summarize_findings(findings: Findings) -> dict[str, Any]:
    """The summary of docs/cli.md; what was not measured is null."""
    kept, gain = findings.kept, speedup(findings)
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
        "outputs_equal": findings.outputs_equal,
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
    found += wide_spreads(findings.reference)
    found += _runtime_warnings(findings)
    cost = findings.record
    if cost is not None and not cost.output_equal:
        found.append(
            "The output under the recorder was not the native one (it emulates another processor)."
        )
    return found


def wide_spreads(samples: Samples, more: str = "with more --trials") -> list[str]:
    """A sentence where times are too far apart to conclude from."""
    spreads = {name: summarize(walls(found)).spread for name, found in samples.items() if found}
    wide = [f"{name} ({spread:.0%})" for name, spread in spreads.items() if spread > WIDE]
    if not wide:
        return []
    return [
        f"The middle half of the times spreads too wide to conclude from, as a share of the"
        f" median: {', '.join(wide)}; repeat on a quiet machine or {more}."
    ]


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
