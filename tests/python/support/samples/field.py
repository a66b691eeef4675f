"""A measurement whose whole field is known: allocators, a setting, plans that leave, the answer.

The machine is twice as slow in later rounds, so that times of other rounds than the same ones give
other ratios.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from halo.base.schema.trial import Trial
from halo.binary.process.allocators import Allocator
from halo.measure.candidates import Candidate, PlanVariant
from halo.measure.findings import Findings
from halo.measure.racing.verdict import RaceVerdict
from halo.measure.results import raw_results
from support.samples.findings import MACHINE

OVER = "mimalloc:huge-pages"
ALONE = Allocator(OVER, Path("/lib/libmimalloc.so.2"))
RACE = (1.0, 1.0, 2.0, 2.0, 2.0)
"""How slow the machine is, by round of the screen."""
ANSWER = (1.0, 1.01, 0.99, 2.0, 2.02, 1.98, 1.0)
PLANS = ("fast", "second", "slow")


def trials(seconds: float, rounds: Sequence[float], megabytes: float = 100) -> list[Trial]:
    peak = int(megabytes * 1e6)
    return [Trial(seconds * it, seconds * it, 0.0, peak) for it in rounds]


def field_findings(kept: str = "fast") -> Findings:
    """Of a program of 2 s; `kept` is the name of a plan, or `none`.

    mimalloc is 1.25 times as fast as glibc, its setting as fast again. Over that, `fast` is 1.5
    times as fast and `second` 1.2 times, in the final. `slow` is 0.8 times, and leaves after two
    rounds. The answer finds less of `fast`.
    """
    findings = Findings("prog", {"reference": ["./prog", "9"], "train": ["./prog", "9"]}, MACHINE)
    findings.training = {
        "glibc": trials(2.0, (1, 2)),
        "mimalloc": trials(1.6, (1, 2), 110),
        "jemalloc": trials(2.5, (1, 2)),
    }
    findings.settings = {
        "mimalloc": trials(1.6, (3, 4)),
        OVER: trials(1.28, (3, 4), 150),
    }
    findings.candidates = [
        Candidate(PlanVariant("none", "none"), ALONE, None),
        *(Candidate(PlanVariant(it, "halo"), ALONE, Path(f"{it}.plan")) for it in PLANS),
    ]
    labels = [candidate.label for candidate in findings.candidates]
    alone, fast, second, slow = labels
    findings.race = {
        alone: trials(1.2, RACE),
        fast: trials(0.8, RACE),
        second: trials(1.0, RACE),
        slow: trials(1.5, RACE[:2]),
    }
    findings.final = {
        alone: trials(1.2, ANSWER),
        fast: trials(0.8, ANSWER, 90),
        second: trials(1.0, ANSWER[:4]),
    }
    label = f"{kept} over {OVER}"
    findings.verdict = RaceVerdict(label, label, 7)
    findings.reference = {
        "glibc": trials(2.0, ANSWER),
        "mimalloc": trials(1.6, ANSWER),
        OVER: trials(1.3, ANSWER),
        "halo": trials(1.0 if kept != "none" else 1.3, ANSWER, 91),
    }
    findings.left_out = {"tcmalloc": "the exit status is 1 and not 0"}
    findings.untried = {"jemalloc:huge-pages": "this version of jemalloc does not know it"}
    return findings


def field_document(findings: Findings) -> dict[str, Any]:
    """The results file of these findings."""
    written: dict[str, Any] = json.loads(json.dumps(to_builtins(raw_results(findings))))
    return written
