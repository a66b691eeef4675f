"""What the watch of a running program costs: the same plan with it and without it.

watch_overhead.py [--pairs N] [NAME...]

The programs are frames, sweep, pagerank and server, on inputs of about half a minute. Each gets a
plan of strategy confine for the machine e7420, from a recording of its training input. Runs are
interleaved, in fresh processes; the first pair is dropped. The overhead is the paired difference of
wall times, in per cent of the pair's mean. The exit status is 1 if its mean over the programs is
above 0.57 % or one's above 3 % (NightWatch, section 6.5), beyond their 95 % intervals.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from evidence import halo
from interleaved import Configuration, measure

from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import find_allocator, under_plan
from halo.binary.process.watch import Watch
from halo.measure.bundled import find_bundled, prepare
from halo.record.parts import MAX_TRACED

MACHINE = "e7420"
CACHE = 8 << 20
MAX_MEAN, MAX_WORST = 0.57, 3.0  # per cent
INPUTS: Mapping[str, tuple[str, ...]] = {
    "frames": ("3000", "2097152", "4194304", "1500000", "2"),
    "sweep": ("6000000", "4000", "2"),
    "pagerank": ("300000", "3000000", "250", "2"),
    "server": ("8000000", "60000", "200000", "2", "2"),
}
WITH, WITHOUT = "with", "without"


def plan_for(settings: Settings, name: str, folder: Path) -> Path:
    job, _ = prepare(settings, find_bundled(settings, name))
    profile, plan = folder / f"{name}.profile", folder / f"{name}.plan"
    largest = ("--max-object", str(MAX_TRACED))
    halo("record", "--objects", *largest, "-o", str(profile), "--", *job.command, env={})
    options = ("--strategy", "confine", "--option", f"machine={MACHINE}")
    halo("plan", str(profile), *options, "-o", str(plan), env={})
    return plan


def overheads(settings: Settings, name: str, pairs: int, folder: Path) -> list[float]:
    """Per cent of each pair."""
    plan = plan_for(settings, name, folder)
    allocator = find_allocator("glibc")
    plain = under_plan(settings.environment, settings.runtime, plan, allocator)
    watch = Watch(cache=CACHE).variables()
    watched = under_plan(settings.environment, settings.runtime, plan, allocator, settings.watch)
    command = [str(settings.build / "bench" / name), *INPUTS[name]]
    found = measure(
        [
            Configuration(WITHOUT, command, plain),
            Configuration(WITH, command, {**watched, **watch}),
        ],
        pairs,
    )
    return [
        200 * (one - other) / (one + other)
        for one, other in zip(found[WITH], found[WITHOUT], strict=True)
    ]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Of the median, at 95 % or more, by order statistics (the sign test)."""
    ordered = sorted(values)
    count, outside = len(ordered), 0
    tail = term = 0.5**count
    while tail <= 0.025:
        outside += 1
        term *= (count - outside + 1) / outside
        tail += term
    at = max(0, outside - 1)
    return ordered[at], ordered[count - 1 - at]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--pairs", type=int, default=15)
    given = parser.parse_args()
    settings = read_settings()
    medians, lows = [], []
    print("| Program | overhead, % | 95 % interval | quartiles |\n| --- | ---: | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="halo-watch-") as folder:
        for name in given.names or INPUTS:
            found = overheads(settings, name, given.pairs, Path(folder))
            low, high = interval(found)
            first, middle, third = statistics.quantiles(found, n=4)
            print(
                f"| {name} | {middle:.2f} | {low:.2f} to {high:.2f} | {first:.2f}, {third:.2f} |",
                flush=True,
            )
            medians.append(middle)
            lows.append(low)
    print(f"Mean {statistics.fmean(medians):.2f} %, worst {max(medians):.2f} %.")
    return 0 if statistics.fmean(lows) <= MAX_MEAN and max(lows) <= MAX_WORST else 1


if __name__ == "__main__":
    sys.exit(main())
