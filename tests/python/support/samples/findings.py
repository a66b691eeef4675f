"""Synthetic findings of measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from halo.base.schema.results import HugePages, Machine
from halo.base.schema.summary import RecordCost
from halo.base.schema.trial import Runtime, Trial
from halo.binary.process.allocators import Allocator
from halo.measure.candidates import Candidate, PlanVariant
from halo.measure.findings import Findings
from halo.measure.racing.gains import HALO
from halo.measure.racing.verdict import RaceVerdict

GLIBC = Allocator("glibc", None)
JEMALLOC = Allocator("jemalloc", Path("/lib/libjemalloc.so.2"))
STEADY = (1.0, 1.001, 0.999, 1.002, 0.998, 1.0, 1.001, 0.999, 1.0, 1.002, 0.998)
"""Eleven rounds of a quiet machine."""
NOISE = (0.9, 1.1, 1.0, 0.93, 1.07, 0.95, 1.05, 1.0, 0.91, 1.09, 1.0)
MACHINE = Machine("a processor", 2, 1 << 30, "6.1", "a system", HugePages("never"), (0.1, 0, 0))


def samples(times: Sequence[float]) -> list[Trial]:
    return [Trial(time, time, 0.0, 1000) for time in times]


def times(factor: float, around: Sequence[float] = STEADY) -> list[Trial]:
    return samples([factor * time for time in around])


def measured(
    plans: Mapping[str, Sequence[Trial]],
    kept: str = "none over glibc",
    reference: dict[str, list[Trial]] | None = None,
) -> Findings:
    """Plans over glibc, raced against it; `kept` is a label. The reference times are steady."""
    findings = Findings("prog", {"reference": ["prog"]}, MACHINE)
    findings.candidates = [
        Candidate(PlanVariant("none", "none"), GLIBC, None),
        *(Candidate(PlanVariant(name, name), GLIBC, Path(f"/r/{name}.plan")) for name in plans),
    ]
    labels = [candidate.label for candidate in findings.candidates]
    raced = [times(1.0), *plans.values()]
    findings.race = {label: list(found) for label, found in zip(labels, raced, strict=True)}
    findings.verdict = RaceVerdict(kept, kept, 11)
    findings.reference = {"glibc": times(1.0), "jemalloc": times(1.3), HALO: times(1.0)}
    findings.reference.update(reference or {})
    return findings


def eleven(time: float, **runtime: Unpack[Runtime]) -> list[Trial]:
    """Eleven runs of the same duration."""
    return [Trial(time, time, 0.0, 1000, runtime) for _ in range(11)]


def complete(halo_time: float, kept: str = "halo over jemalloc") -> Findings:
    jemalloc = Allocator("jemalloc", Path("/lib/libjemalloc.so.2"))
    findings = Findings("prog", {"reference": ["prog"]}, MACHINE)
    findings.candidates = [
        Candidate(PlanVariant("none", "none"), jemalloc, None),
        Candidate(PlanVariant("halo", "halo"), jemalloc, Path("/r/halo.plan")),
    ]
    findings.race = {"none over jemalloc": eleven(0.2), "halo over jemalloc": eleven(0.1)}
    findings.verdict = RaceVerdict(kept, kept, 11)
    findings.record = RecordCost(2.0, 0.2, True, 10.0)
    findings.reference = {
        "glibc": eleven(3.0),
        "jemalloc": eleven(2.0),
        "mimalloc": eleven(2.5),
        "tcmalloc": eleven(4.0),
        "halo": eleven(halo_time, active=True, huge_bytes=7),
    }
    return findings
