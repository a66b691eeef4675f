"""Compares variants NAME-tidy with the plain programs on littered heaps, cells littered too.

tidy_littered.py [NAME...] [--levels LEVEL,...]   without names: mesh

A level is an occupancy, or `clean`. The plain program's heap is littered with the sizes of its
allocations, under each baseline allocator. The variant's heap is littered likewise, and the cells
of its context with the sizes and hints of the objects that it places. The control is the variant
with hints ignored, and its context littered with objects without hints. All are littered with
multiplier 1, by another seed in each round. Runs of a level on the reference input are
interleaved, in fresh processes; the first round is dropped. Times are without the littering:
processor seconds of the traversal, and wall seconds of the whole program. Ends with status 1 if a
threshold is missed.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from interleaved import Configuration, Seconds

from halo.base.schema.detection import CLASSES, FORMAT, VERSION, Detection
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import baseline_allocators, preload
from halo.measure.aging import Litter, detect_environment, read_log
from halo.measure.bundled import find_bundled, prepare
from halo.measure.statistics import Ratio, ratio

CLEAN = "clean"
LEVELS = (CLEAN, "0.95", "0.75", "0.5")
HINTED, IGNORED = "hinted", "ignored"
MIN_RATIO = 1.3  # of traversals and of whole programs, over the best baseline allocator
MAX_SEED = 2**63


@dataclass(frozen=True)
class Littered:
    """A configuration, and the sizes that its heap is littered with."""

    config: Configuration
    data: Path


@dataclass(frozen=True)
class Times:
    """Seconds by configuration, one for each round."""

    traversal: Seconds
    whole: Seconds


def command_of(settings: Settings, name: str) -> list[str]:
    job = prepare(settings, find_bundled(settings, name))[1]
    return [str(job.target.path), *job.arguments]


def detect(settings: Settings, command: Sequence[str], file: Path) -> Path:
    """Detects the sizes of a program's allocations by malloc."""
    run_quietly(
        command, detect_environment(settings.environment, settings.detector, Path(command[0]), file)
    )
    return file


def run_quietly(command: Sequence[str], environment: Mapping[str, str]) -> None:
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)


def sizes_of(program: str, log: str) -> Detection:
    """The sizes of a log of hints (bench/common/tidy_log.cc), as if all objects lived at once."""
    sizes = Counter(int(line.split()[1]) for line in log.splitlines())
    count, total = sizes.total(), sum(size * count for size, count in sizes.items())
    if not count or max(sizes) >= CLASSES - 1:
        sys.exit(f"{program} logs no hints, or objects that Tidy does not place")
    return Detection(
        format=FORMAT,
        version=VERSION,
        program=program,
        allocations=count,
        mean=total / count,
        minimum=min(sizes),
        maximum=max(sizes),
        max_live_allocations=count,
        bins=tuple(sizes[size] for size in range(CLASSES)),
        groups=(),
    )


def configurations(settings: Settings, name: str, folder: Path) -> list[Littered]:
    """The plain program under each allocator, then the variant with its hints and without."""
    plain, variant = command_of(settings, name), command_of(settings, f"{name}-tidy")
    log, cells = folder / "hints", folder / "cells.out"
    keys = command_of(settings, f"{name}-tidy-keys")
    run_quietly(keys, {**settings.environment, "HALO_BENCH_KEYS": str(log)})
    cells.write_bytes(msgspec.json.encode(sizes_of(keys[0], log.read_text())))
    own = detect(settings, plain, folder / "plain.out")
    rest = detect(settings, variant, folder / "variant.out")
    littered = {
        **settings.environment,
        "HALO_BENCH_LITTER_DATA": str(cells),
        "HALO_BENCH_LITTER_HINTS": str(log),
    }
    ignoring = {**littered, "HALO_BENCH_HINTS": "ignored"}
    return [
        *(
            Littered(
                Configuration(it.name, plain, preload(settings.environment, [it.library])), own
            )
            for it in baseline_allocators()
        ),
        Littered(Configuration(HINTED, variant, littered), rest),
        Littered(Configuration(IGNORED, variant, ignoring), rest),
    ]


def run(
    settings: Settings, one: Littered, level: str, seed: int, folder: Path
) -> tuple[float, float, str]:
    """Seconds of the traversal and of the whole program without littering, and its output."""
    config, log = one.config, folder / "litter.json"
    log.unlink(missing_ok=True)
    litter = Litter(
        occupancy=1.0 if level == CLEAN else float(level),
        multiplier=0.0 if level == CLEAN else 1.0,
        seed=seed,
        data=one.data,
    )
    environment = litter.environment(
        config.environment, settings.litterer, Path(config.command[0]), log
    )
    if level == CLEAN:
        environment.pop("HALO_BENCH_LITTER_DATA", None)
    done = subprocess.run(
        config.command,
        env={**environment, "HALO_BENCH_PHASES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{config.label} ended with {done.returncode}: {done.stderr.strip()}")
    phases = phases_of(done.stderr)
    whole = read_log(log, config.label).program_seconds
    if whole is None:
        sys.exit(f"{config.label} ended without its destructors")
    return phases["traversal"], whole - phases.get("littering", 0.0), done.stdout


def phases_of(printed: str) -> dict[str, float]:
    """Seconds by name, of the lines of bench/common/phase.h."""
    pairs = (line.split() for line in printed.splitlines())
    return {name: float(seconds) for name, seconds in pairs}


def measure(
    settings: Settings, found: Sequence[Littered], level: str, trials: int, folder: Path
) -> Times:
    """Times without the warm-up round; all outputs have to be the same."""
    labels = [it.config.label for it in found]
    times = Times({it: [] for it in labels}, {it: [] for it in labels})
    printed = set()
    for trial in range(trials + 1):
        seed = random.randrange(MAX_SEED)
        for one in random.sample(found, len(found)):
            traversal, whole, output = run(settings, one, level, seed, folder)
            printed.add(output)
            if trial:
                times.traversal[one.config.label].append(traversal)
                times.whole[one.config.label].append(whole)
    if len(printed) > 1:
        sys.exit("not all configurations print the same")
    return times


def best_of(seconds: Seconds) -> str:
    """The baseline allocator with the least median."""
    plain = [label for label in seconds if label not in (HINTED, IGNORED)]
    return min(plain, key=lambda label: statistics.median(seconds[label]))


def row(name: str, level: str, what: str, seconds: Seconds) -> tuple[str, bool]:
    """A row of the table, and whether the threshold is met."""
    over_best = ratio(seconds[best_of(seconds)], seconds[HINTED])
    over_ignored = ratio(seconds[IGNORED], seconds[HINTED])
    medians = " | ".join(f"{statistics.median(values):.2f}" for values in seconds.values())
    cells = f"{medians} | {shown(over_best)} | {shown(over_ignored)}"
    return f"| {name} | {what} | {level} | {cells} |", over_best.value >= MIN_RATIO


def shown(found: Ratio) -> str:
    return f"{found.value:.2f} ({found.low:.2f}–{found.high:.2f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--trials", type=int, default=11)
    given = parser.parse_args()
    settings = read_settings()
    labels = [*(it.name for it in baseline_allocators()), HINTED, IGNORED]
    print(f"| Program | what | heap | {' | '.join(labels)} | over the best | over ignored |")
    print(f"| --- | --- | --- |{' ---: |' * (len(labels) + 2)}")
    met = True
    for name in given.names or ["mesh"]:
        with tempfile.TemporaryDirectory(prefix="halo-littered-") as scratch:
            folder = Path(scratch)
            found = configurations(settings, name, folder)
            for level in given.levels.split(","):
                times = measure(settings, found, level, given.trials, folder)
                rows = {"traversal": times.traversal, "whole": times.whole}
                for what, seconds in rows.items():
                    line, is_met = row(name, level, what, seconds)
                    print(line, flush=True)
                    met &= is_met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
