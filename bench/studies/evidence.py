"""Measures what `halo bench` does not: exactness of walks, influence of ASLR, cost if idle.

evidence.py exactness   every walk against libunwind's (povray, xsltproc, python3)
evidence.py aslr        the groups' counts over many runs under one plan
evidence.py idle        the runtime under a plan of which nothing matches, against no runtime

Each ends with one line a program, and with status 1 if the threshold is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from bench.shared.halo_runs import run_halo, run_planned
from halo.base.settings import Settings, read_settings
from halo.measure.bundled import Bundled, find_bundled, prepare
from halo.measure.runs.job import Job
from halo.measure.statistics import ratio, summarize

MAX_IDLE_COST = 1.01
ENOUGH_WALKS = 1_000_000


def make_plan(job: Job, env: Mapping[str, str], folder: Path, *options: str) -> Path:
    profile, plan = folder / "program.profile", folder / "program.plan"
    run_halo("record", "-o", str(profile), "--", str(job.target.path), *job.arguments, env=env)
    run_halo("plan", str(profile), *options, "-o", str(plan), env=env)
    return plan


def exactness(settings: Settings, program: Bundled, folder: Path) -> bool:
    """Runs many groups, with deep walks, under the checking build until enough are checked."""
    train, reference = prepare(settings, program)
    options = ("--strategy", "halo-hot", "--option", "coverage=1", "--option", "gthresh=0")
    plan = make_plan(train, program.env, folder, *options)
    checking = str(settings.build / "lib" / "libhalo-check.so")
    walks = differences = 0
    for job in (train, reference, reference, reference):
        if walks >= ENOUGH_WALKS:
            break
        run_planned(job, program.env, checking, plan, folder / "stats")
        stats = json.loads((folder / "stats").read_text())
        walks += stats["checked_walks"]
        differences += stats["differences"]
    states = json.loads(plan.with_name(plan.name + ".json").read_text())["identification"]
    print(
        f"{program.name}: {walks:,} walks checked, {differences} differences"
        f" ({states['states']} states, {states['mean_steps']:.1f} addresses a walk,"
        f" {states['deepest']} at most)"
    )
    return walks >= ENOUGH_WALKS and differences == 0


def aslr(settings: Settings, program: Bundled, folder: Path) -> bool:
    """Compares the counts of every group over 100 runs at different addresses."""
    train, _ = prepare(settings, program)
    plan = make_plan(train, program.env, folder, "--strategy", "halo-hot")
    seen = set()
    for _ in range(100):
        run_planned(train, program.env, str(settings.runtime), plan, folder / "stats")
        groups = json.loads((folder / "stats").read_text())["groups"]
        seen.add(tuple(group["allocations"] for group in groups))
    counts = next(iter(seen))
    print(
        f"{program.name}: 100 runs, {len(seen)} different set(s) of counts:"
        f" {len(counts)} groups, {sum(counts):,} allocations"
    )
    return len(seen) == 1 and sum(counts) > 0


def idle(settings: Settings, program: Bundled, folder: Path) -> bool:
    """Compares interleaved runs without the runtime, and with another program's plan."""
    _, reference = prepare(settings, program)
    other, _ = prepare(settings, find_bundled(settings, "hospital"))
    plan = make_plan(other, {}, folder, "--strategy", "one-pool")
    configs = {
        "without": {},
        "with": {"LD_PRELOAD": str(settings.runtime), "HALO_PLAN": str(plan)},
    }
    run_planned(reference, program.env, str(settings.runtime), plan, folder / "stats")
    grouped = json.loads((folder / "stats").read_text())["groups"]
    if sum(group["allocations"] for group in grouped):
        sys.exit(f"{program.name}: something matches the plan of hospital")
    times: dict[str, list[float]] = {config: [] for config in configs}
    command = [str(reference.target.path), *reference.arguments]
    for number in range(32):
        for config in random.sample(list(configs), len(configs)):
            env = {**os.environ, **program.env, **configs[config]}
            start = time.monotonic()
            subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=True)
            if number:
                times[config].append(time.monotonic() - start)
    cost = ratio(times["with"], times["without"])
    spread = ", ".join(
        f"{config} {summarize(found).median:.3f} s ± {100 * summarize(found).spread / 2:.1f} %"
        for config, found in times.items()
    )
    best = min(times["with"]) / min(times["without"])
    mean = statistics.fmean(times["with"]) / statistics.fmean(times["without"])
    print(
        f"{program.name}: {cost.value:.4f} times the time ({cost.low:.4f} to {cost.high:.4f});"
        f" of the fastest runs {best:.4f}, of the means {mean:.4f}; {spread}"
    )
    return cost.value <= MAX_IDLE_COST


SHOWN = {
    "exactness": (exactness, ("povray", "xsltproc", "python3")),
    "aslr": (aslr, ("jq",)),
    "idle": (idle, ("jq", "sqlite3")),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=SHOWN)
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    settings = read_settings()
    show, usual = SHOWN[options.what]
    met = True
    for name in options.programs or usual:
        with tempfile.TemporaryDirectory(prefix="halo-evidence-") as folder:
            met &= show(settings, find_bundled(settings, name), Path(folder))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
