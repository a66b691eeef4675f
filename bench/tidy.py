"""Compares the variants NAME-tidy, which place objects by hints, with the plain programs.

tidy.py clock [NAME...]   traversal and whole program: over the best baseline allocator, over glibc,
                          and over the variant with its hints ignored
tidy.py cost              nanoseconds of Tidy's functions, memory while keys drift, and two threads
                          over one
tidy.py memory            free memory beside a million objects, for all hints, sizes and frees

The names are mesh, pagerank and rbtree. Runs on the reference input are interleaved, in fresh
processes; the first round is dropped. The controls are the variant with other hints: none at all,
all the same, random ones, and the last value first. Ends with status 1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from interleaved import Configuration

from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import baseline_allocators, preload
from halo.measure.bundled import find_bundled, prepare
from halo.measure.statistics import Ratio, ratio

HINTED = "hinted"
CONTROLS = ("ignored", "constant", "random", "reversed")
MAX_NS = {"same": 15.0, "cells": 80.0}
KEYS = ("uniform", "zipf", "equal", "distinct", "drifting")
SIZES = (32, 264, 0)  # bytes of an object; 0: 16 to 512 at random
FREES = (0, 50)  # replacements of earlier objects for each 100 allocations
DISTINCT_BYTES = 64  # for each object, if no two hints are equal
OBJECTS = 1_000_000
FREE_SHARE, FREE_BYTES = 12, 2 << 20  # of live bytes, and in addition
MAX_DRIFT = 1.02  # memory in the last quarter over that in the second
MIN_THREADS_GAIN = 1.6


@dataclass(frozen=True)
class Thresholds:
    """The minimum ratios of a program: of traversals, and of the whole program."""

    traversal: Mapping[str, float]
    whole: Mapping[str, float]


BEST, GLIBC, IGNORED = "best", "glibc", "ignored"
THRESHOLDS = {
    "mesh": Thresholds({BEST: 2.0, IGNORED: 2.5}, {BEST: 1.5, IGNORED: 0.98}),
    "pagerank": Thresholds({GLIBC: 1.37, IGNORED: 1.0}, {IGNORED: 0.98}),
    "rbtree": Thresholds({GLIBC: 1.16}, {IGNORED: 0.98}),
}


@dataclass(frozen=True)
class Times:
    """Seconds by configuration, one for each round: of the traversal, and of the whole program."""

    traversal: Mapping[str, list[float]]
    whole: Mapping[str, list[float]]


def run(config: Configuration) -> tuple[float, float, str]:
    """Processor seconds of the traversal and of the program, and its output."""
    environment = {**config.environment, "HALO_BENCH_PHASES": ""}
    before = children_seconds()
    done = subprocess.run(
        config.command, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{config.label} ended with {done.returncode}: {done.stderr.strip()}")
    return float(done.stderr.split()[1]), children_seconds() - before, done.stdout


def children_seconds() -> float:
    """Processor seconds of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(configs: Sequence[Configuration], trials: int) -> Times:
    """Times without the warm-up round; all outputs have to be the same."""
    times = Times({it.label: [] for it in configs}, {it.label: [] for it in configs})
    printed = set()
    for trial in range(trials + 1):
        for config in random.sample(configs, len(configs)):
            traversal, whole, output = run(config)
            printed.add(output)
            if trial:
                times.traversal[config.label].append(traversal)
                times.whole[config.label].append(whole)
    if len(printed) > 1:
        sys.exit("not all configurations print the same")
    return times


def hinted(
    settings: Settings, name: str, label: str, variables: Mapping[str, str]
) -> Configuration:
    """The variant, with those variables."""
    job = prepare(settings, find_bundled(settings, f"{name}-tidy"))[1]
    command: list[str | Path] = [job.target.path, *job.arguments]
    return Configuration(label, command, {**settings.environment, **variables})


def clock(settings: Settings, name: str, trials: int) -> bool:
    """Prints a table; whether the thresholds are met."""
    job = prepare(settings, find_bundled(settings, name))[1]
    command: list[str | Path] = [job.target.path, *job.arguments]
    allocators = baseline_allocators()
    plain = [
        Configuration(it.name, command, preload(settings.environment, [it.library]))
        for it in allocators
    ]
    variants = [hinted(settings, name, HINTED, {})]
    variants += [hinted(settings, name, it, {"HALO_BENCH_HINTS": it}) for it in CONTROLS]
    times = measure([*plain, *variants], trials)
    met = True
    for what, seconds, minimums in (
        ("traversal", times.traversal, THRESHOLDS[name].traversal),
        ("whole", times.whole, THRESHOLDS[name].whole),
    ):
        middles = {label: statistics.median(values) for label, values in seconds.items()}
        best = min((it.name for it in allocators), key=lambda label: middles[label])
        print(f"{name}, {what}: " + ", ".join(f"{it} {at:.3f}" for it, at in middles.items()))
        for label in (best, GLIBC, *CONTROLS):
            found = ratio(seconds[label], seconds[HINTED])
            print(f"  over {label}: {found.value:.3f} ({found.low:.3f}-{found.high:.3f})")
        ratios: dict[str, Ratio] = {
            BEST: ratio(seconds[best], seconds[HINTED]),
            GLIBC: ratio(seconds[GLIBC], seconds[HINTED]),
            IGNORED: ratio(seconds[IGNORED], seconds[HINTED]),
        }
        met = met and all(ratios[over].value >= minimum for over, minimum in minimums.items())
    sys.stdout.flush()
    return met


def measured(settings: Settings, trials: int, *case: str) -> list[float]:
    """The medians of what the program prints."""
    command: list[str | Path] = [settings.build / "bench" / "tidy", *case]
    rows = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(trials)
    ]
    return [statistics.median(map(float, column)) for column in zip(*rows, strict=True)]


def cost(settings: Settings, trials: int) -> bool:
    """Prints a line for each case; whether the thresholds are met."""
    met = True
    for case, max_ns in MAX_NS.items():
        (nanoseconds,) = measured(settings, trials, case)
        print(f"{case}: {nanoseconds:.1f} ns for a pair (at most {max_ns:.0f})", flush=True)
        met = met and nanoseconds <= max_ns
    second, last = measured(settings, trials, "drift")
    print(f"drift: {last / second:.3f} times the memory of the second quarter", flush=True)
    one = measured(settings, trials, "threads", "1")[0]
    two = measured(settings, trials, "threads", "2")[0]
    print(f"two threads: {two / one:.2f} times the pairs of one")
    return met and last <= MAX_DRIFT * second and two >= MIN_THREADS_GAIN * one


def memory(settings: Settings, trials: int) -> bool:
    """Prints a line for each case; whether the thresholds are met."""
    met = True
    for keys, size, frees in product(KEYS, SIZES, FREES):
        found = measured(settings, trials, "memory", keys, str(size), str(frees))
        extra = DISTINCT_BYTES * OBJECTS if keys == "distinct" else 0
        line = f"{keys}, {f'{size} bytes' if size else 'random sizes'}, {frees} % frees:"
        for what, (live, resident) in (("allocated", found[:2]), ("half replaced", found[2:])):
            free, most = resident - live, live / FREE_SHARE + FREE_BYTES + extra
            line += f" {what} {free / 1e6:.1f} MB free (at most {most / 1e6:.1f})"
            met = met and free <= most
        print(line, flush=True)
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("clock", "cost", "memory"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11)
    given = parser.parse_args()
    settings = read_settings()
    if given.what in ("cost", "memory"):
        whole = cost if given.what == "cost" else memory
        return 0 if whole(settings, given.trials) else 1
    met = [clock(settings, name, given.trials) for name in given.names or THRESHOLDS]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
