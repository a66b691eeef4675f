"""Results for the tests of metrics, figures and reports: made by halo's own writer, or measured."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from halo.base.schema.results import Machine
from halo.base.schema.summary import RecordCost
from halo.base.schema.trial import Pool, Runtime, Trial
from halo.binary.process.allocators import Allocator
from halo.measure.candidates import Candidate, PlanVariant
from halo.measure.findings import Findings
from halo.measure.racing.verdict import RaceVerdict
from halo.measure.results import raw_results
from halo.measure.runs.machine import describe_machine
from support.command import compile_c, halo
from support.programs.sources import LIST

TIMES: Mapping[str, Sequence[float]] = {
    "glibc": (3.0, 3.3, 2.7),
    "jemalloc": (2.0, 2.2, 1.8),
    "mimalloc": (2.5, 2.75, 2.25),
    "tcmalloc": (4.0, 4.4, 3.6),
    "halo": (1.0, 1.0, 1.0),
}
"""Three rounds each; the second slower by a tenth and the third faster, but for halo's."""
GROUPS = [
    {"peak_resident_bytes": 1000, "live_at_peak_bytes": 900},
    {"peak_resident_bytes": 3000, "live_at_peak_bytes": 2600},
]
LEVELS = ("L1D", "L2", "L3", "DTLB", "STLB")


def document(
    program: str = "prog",
    kept: str = "halo",
    times: Mapping[str, Sequence[float]] = TIMES,
    **extra: object,
) -> dict[str, Any]:
    """A results file as halo writes it: `kept` is the candidate's label, `none` for no plan."""
    commands = {"reference": [f"./{program}", "9"], "train": [f"./{program}", "1"]}
    findings = Findings(program, commands, _machine())
    jemalloc = Allocator("jemalloc", Path("/lib/libjemalloc.so.2"))
    plan = None if kept == "none" else Path(f"{kept}.plan")
    findings.candidates = [
        Candidate(PlanVariant("none", "none"), jemalloc, None),
        Candidate(PlanVariant(kept, kept), jemalloc, plan),
    ]
    label = f"{kept} over jemalloc"
    findings.verdict = RaceVerdict(label, label, 11)
    findings.record = RecordCost(2.0, 0.2, True, 10.0)
    findings.reference = {name: [_sample(time, {}) for time in t] for name, t in times.items()}
    if "halo" in times:
        if plan is None:
            findings.reference["halo"] = findings.reference["jemalloc"]
        else:
            runtime: Runtime = {"active": True, "groups": [_pool(group) for group in GROUPS]}
            findings.reference["halo"] = [_sample(time, runtime) for time in times["halo"]]
    written: dict[str, Any] = json.loads(json.dumps(to_builtins(raw_results(findings))))
    return {**written, **extra}


def simulation(factors: Mapping[str, float], on: str = "training") -> dict[str, Any]:
    """A simulation with that many thousands of misses of each level, by configuration."""
    level = {"sets": 64, "ways": 8, "cycles": 4}
    return {
        "input": on,
        "machine": {
            "line": 64,
            "page": 4096,
            "caches": [{"name": name, **level} for name in LEVELS[:3]],
            "tlbs": [{"name": name, **level} for name in LEVELS[3:]],
            "huge_tlb": [8, 4],
            "memory_cycles": 200,
            "walk_cycles": 30,
            "next_line": True,
            "streams": False,
        },
        "configurations": {
            label: {
                "instructions": 10_000,
                "accesses": 5_000,
                "cycles": int(20_000 * factor),
                "misses": {name: int(1000 * factor) for name in LEVELS},
            }
            for label, factor in factors.items()
        },
        "contexts": [{"context": 0, "accesses": 4000, "misses": dict.fromkeys(LEVELS, 7)}],
        "code": [{"place": "walk at a.c:1", "accesses": 30, "misses": dict.fromkeys(LEVELS, 3)}],
    }


def distances(*times: float) -> dict[str, Any]:
    """Figure 12's data: 8, 16, 32, ... bytes, two trials at each, and a baseline of 2 s."""
    points = [
        {"distance": 8 << number, "trials": [_raw(time), _raw(time)]}
        for number, time in enumerate(times)
    ]
    baseline = [_raw(2.0), _raw(2.0)]
    return {"strategy": "halo", "allocator": "glibc", "baseline": baseline, "points": points}


def config(strategy: str, allocator: str = "jemalloc", plan: str | None = None) -> object:
    return {
        "strategy": strategy,
        "candidate": strategy,
        "allocator": allocator,
        "identification": "walk",
        "plan": plan,
    }


def save(document: Mapping[str, Any], folder: Path) -> Path:
    """Writes the results file into a folder of its own, and returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(document))
    return folder


@cache
def measured_folder() -> Path:
    """The results folder of a real `halo run` on a small program, measured once for all tests."""
    holder = tempfile.TemporaryDirectory(prefix="halo-tests.")
    atexit.register(holder.cleanup)
    folder = Path(holder.name)
    compile_c(LIST, folder / "list")
    outcome = halo(
        *("run", "--trials", "3", "--candidates", "halo,one-pool", "--results", "results"),
        *("--allow-status", "7"),
        *("--", "./list", "2000", "--", "./list", "20000"),
        cwd=folder,
    )
    assert outcome.status == 0, outcome.stderr
    return folder / "results"


def with_kept(folder: Path, results: Path, candidate: str) -> Path:
    """A copy of a results folder in which that candidate was kept, whatever the clock said."""
    shutil.copytree(results, folder)
    found = json.loads((results / "results.json").read_text())
    found["summary"].update(strategy=candidate, candidate=candidate, allocator="glibc")
    return save(found, folder)


@cache
def _machine() -> Machine:
    return describe_machine()


def _pool(sizes: Mapping[str, int]) -> Pool:
    live, resident = sizes["live_at_peak_bytes"], sizes["peak_resident_bytes"]
    return {"peak_bytes": live, "peak_resident_bytes": resident, "live_at_peak_bytes": live}


def _sample(time: float, runtime: Runtime) -> Trial:
    return Trial(time, time, 0.0, int(time * 1000), runtime)


def _raw(time: float) -> dict[str, Any]:
    return {"wall": time, "user": time, "system": 0.0, "peak_memory": 1, "runtime": {}}
