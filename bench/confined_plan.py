"""What a plan of strategy confine costs, by itself: memory, and time.

confined_plan.py memory [NAME...]   peak resident bytes, with the plan and without one
confined_plan.py time [NAME...]     wall seconds likewise, by interleaved runs

Without names: all bundled programs. Each gets a plan for the machine e7420, from a recording of its
training input, and runs on that input (memory) or on the reference input (time). Programs without
objects of more than 64 KiB have no groups, and are left out. Ends with status 1 if the plan takes
more than 1.05 times the memory and 64 MiB, or if a program with it is slower than 0.99 of one
without, beyond its 95 % interval.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from interleaved import Configuration, measure
from watch_overhead import interval, plan_for

from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import find_allocator, under_plan
from halo.measure.bundled import find_bundled, list_plain, prepare
from halo.measure.runs.job import Job
from halo.measure.runs.launcher import Launcher, Streams
from halo.plan import read_plan

MAX_SHARE, MAX_MORE = 1.05, 64 << 20
MIN_RATIO = 0.99
WITH, WITHOUT = "with the plan", "without"


def peak(job: Job, environment: Mapping[str, str]) -> int:
    """Resident bytes of the process, started by a small one, as its peak is inherited."""
    null = Path(os.devnull)
    arguments = [job.target.name, *job.arguments]
    with Launcher() as launcher:
        run = launcher.run(job.target.path, arguments, environment, Streams(null, null, null))
    if run.ending.exit_status:
        sys.exit(f"{job.target.name} ended with {run.ending.exit_status}")
    return run.peak_memory


def memory(settings: Settings, name: str, plan: Path, _: int) -> bool:
    job, _reference = prepare(settings, find_bundled(settings, name))
    glibc = find_allocator("glibc")
    before = peak(job, settings.environment)
    after = peak(job, under_plan(settings.environment, settings.runtime, plan, glibc))
    print(f"| {name} | {before / 1e6:.1f} | {after / 1e6:.1f} | {after / before:.3f} |", flush=True)
    return after <= before * MAX_SHARE + MAX_MORE


def time(settings: Settings, name: str, plan: Path, trials: int) -> bool:
    _, job = prepare(settings, find_bundled(settings, name))
    command: list[str | Path] = [job.target.path, *job.arguments]
    glibc = find_allocator("glibc")
    found = measure(
        [
            Configuration(WITHOUT, command, settings.environment),
            Configuration(
                WITH, command, under_plan(settings.environment, settings.runtime, plan, glibc)
            ),
        ],
        trials,
    )
    ratios = [one / other for one, other in zip(found[WITHOUT], found[WITH], strict=True)]
    low, high = interval(ratios)
    middle = statistics.median(ratios)
    print(f"| {name} | {middle:.3f} | {low:.3f} to {high:.3f} |", flush=True)
    return high >= MIN_RATIO


MEASURES = {
    "memory": (
        memory,
        "| Program | without, MB | with the plan | ratio |\n| --- | ---: | ---: | ---: |",
    ),
    "time": (time, "| Program | speed-up | 95 % interval |\n| --- | ---: | --- |"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=MEASURES)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11)
    given = parser.parse_args()
    settings = read_settings()
    names = given.names or [bundled.name for bundled in list_plain(settings)]
    measure_one, heading = MEASURES[given.what]
    print(heading, flush=True)
    met = True
    with tempfile.TemporaryDirectory(prefix="halo-confined-") as folder:
        for name in names:
            plan = plan_for(settings, name, Path(folder))
            if read_plan(plan).groups:
                met = measure_one(settings, name, plan, given.trials) and met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
