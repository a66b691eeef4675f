"""Measures placement by cache set on the workloads whose objects compete for sets.

conflicts.py clock [NAME...]    seconds, over the best baseline allocator
conflicts.py misses [NAME...]   simulated misses of the first cache by class, on three machines;
                                keeps them in the folder --kept, and only makes those it lacks

Each workload is recorded on a training input with another seed. The plans are `conflict`, `dense`
with blocks spread over the sets, `dense` packed, and, as a control, `conflict` with all blocks in
one slot. Runs are interleaved, in fresh processes; the first round is dropped. Ends with status 1
if a threshold is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.shared.configurations import make_configs
from bench.shared.halo_runs import run_halo
from bench.shared.interleaved import measure
from bench.shared.keep_results import keep_simulation
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import baseline_allocators
from halo.measure.bundled import find_bundled, prepare
from halo.measure.runs.job import Job
from halo.measure.statistics import ratio

MACHINES = {"x86-48k-12": 4096, "x86-32k-8": 4096, "alpha21264": 32768}  # with bytes of a way
PLANS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "conflict": ("conflict", {}),
    "spread": ("dense", {"by_size": "true"}),
    "packed": ("dense", {"phase": "none"}),
    "same": ("conflict", {"phase": "same"}),
}
LAYOUTS = ("glibc", *PLANS)
MIN_REDUCTION = 0.9  # of conflict misses
MAX_MISSES = 1.01  # of all first-level misses, over each of the compared layouts
MIN_SAME = 1.2  # seconds of the control over those of `conflict`, on nodes


@dataclass(frozen=True)
class Workload:
    """A workload: the index and the value of the argument for recordings, and its thresholds.

    `over_best` is the least ratio of the best allocator's seconds to the plan's, `over_packed` that
    of the packed plan's.
    """

    name: str
    argument: int
    recorded: str
    over_best: float
    over_packed: float = 0.0


WORKLOADS = (
    Workload("sessions-240", 2, "3000000", 1.20),
    Workload("nodes-4080", 2, "2000000", 1.40),
    Workload("lattice-510", 2, "12", 1.80),
    Workload("sessions-256", 2, "3000000", 0.99, 1.20),
    Workload("nodes-4096", 2, "2000000", 0.99, 1.40),
    Workload("lattice-512", 2, "12", 0.99, 1.80),
)


def small(job: Job, workload: Workload) -> list[str]:
    """The command with as many steps as recordings and simulations have."""
    arguments = list(job.arguments)
    arguments[workload.argument] = workload.recorded
    return [str(job.target.path), *arguments]


def make_plans(training: Job, workload: Workload, machine: str, folder: Path) -> dict[str, Path]:
    """The plans of a workload for a machine, by name."""
    profile = folder / f"{machine}.profile"
    command = small(training, workload)
    run_halo("record", f"--conflicts={machine}", "-o", str(profile), "--", *command, env={})
    plans = {}
    for name, (strategy, options) in PLANS.items():
        given = dict(options)
        if strategy == "dense" and MACHINES.get(machine, 4096) != 4096:
            given["way"] = str(MACHINES[machine])
        plans[name] = folder / f"{machine}-{name}.plan"
        pairs = [it for key, value in given.items() for it in ("--option", f"{key}={value}")]
        run_halo(
            "plan", str(profile), "--strategy", strategy, *pairs, "-o", str(plans[name]), env={}
        )
    return plans


def clock(settings: Settings, workload: Workload, trials: int, folder: Path) -> bool:
    """Prints medians and ratios; returns whether the thresholds are met."""
    training, reference = prepare(settings, find_bundled(settings, workload.name))
    plans = make_plans(training, workload, "this", folder)
    allocators = baseline_allocators()
    over = {name: (plan, allocators[0]) for name, plan in plans.items()}
    seconds = measure(make_configs(settings, reference, {}, allocators, over), trials)
    middles = {label: statistics.median(values) for label, values in seconds.items()}
    best = min((it.name for it in allocators), key=lambda name: middles[name])
    found = {
        other: ratio(seconds[other], seconds["conflict"]) for other in (best, "packed", "same")
    }
    print(
        f"{workload.name}: best allocator {best}; "
        + ", ".join(f"{label} {middle:.3f} s" for label, middle in middles.items())
    )
    for other, it in found.items():
        print(f"  conflict over {other}: {it.value:.3f} ({it.low:.3f}-{it.high:.3f})", flush=True)
    control = MIN_SAME if workload.name == "nodes-4080" else 0.0
    return (
        found[best].value >= workload.over_best
        and found["packed"].value >= workload.over_packed
        and found["same"].value >= control
    )


def simulate(command: list[str], machine: str, plan: Path | None, result: Path) -> None:
    """Writes the simulated misses of the first cache by class."""
    under = ["--plan", str(plan)] if plan else []
    options = ["--classes", "--machine", machine, "--rows", "0", "--json", str(result)]
    run_halo("eval", "simulate", *options, *under, "--", *command, env={})


def simulate_layouts(settings: Settings, workload: Workload, machine: str, kept: Path) -> None:
    """Simulates every layout on the reference input; a file for each in the folder `kept`."""
    training, reference = prepare(settings, find_bundled(settings, workload.name))
    command = small(reference, workload)
    with tempfile.TemporaryDirectory(prefix="halo-conflicts-") as folder:
        plans: dict[str, Path | None] = {"glibc": None}
        plans |= make_plans(training, workload, machine, Path(folder))
        for name, plan in plans.items():
            result = Path(folder) / "simulated.json"
            simulate(command, machine, plan, result)
            keep_simulation(result, kept / f"{name}.json")


def misses(settings: Settings, workload: Workload, kept: Path) -> bool:
    """Prints first-level misses by class; returns whether the thresholds are met."""
    met = True
    for machine in MACHINES:
        files = {name: kept / machine / workload.name / f"{name}.json" for name in LAYOUTS}
        if not all(file.exists() for file in files.values()):
            simulate_layouts(settings, workload, machine, kept / machine / workload.name)
        counts = {}
        for name, file in files.items():
            counts[name] = json.loads(file.read_text())["classes"]
            total = sum(counts[name][key] for key in ("compulsory", "capacity", "conflict"))
            counts[name]["total"] = total
            print(f"{workload.name} {machine} {name}: {counts[name]}", flush=True)
        before = "packed" if workload.over_packed else "glibc"
        least = (1 - MIN_REDUCTION) * counts[before]["conflict"]
        now = counts["conflict"]
        met &= now["conflict"] <= least and all(
            now["total"] <= MAX_MISSES * counts[other]["total"] for other in ("glibc", "packed")
        )
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("clock", "misses"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11)
    parser.add_argument("--kept", type=Path, default=Path("results/conflicts"), metavar="FOLDER")
    given = parser.parse_args()
    settings = read_settings()
    met = True
    for workload in WORKLOADS:
        if given.names and workload.name not in given.names:
            continue
        if given.what == "misses":
            met &= misses(settings, workload, given.kept)
            continue
        with tempfile.TemporaryDirectory(prefix="halo-conflicts-") as folder:
            met &= clock(settings, workload, given.trials, Path(folder))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
