"""Compares recorded runs of the bundled programs with native runs, on the training inputs.

recording.py [NAME...] [--trials N] [--engine NAME] [--exact]

A recorded run is all of `halo record`: Python's start and the writing of the profile, too. Fresh
processes, interleaved, the first round dropped. Ends with status 1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.shared.interleaved import Configuration, measure
from bench.studies.everything import PROGRAMS
from halo.base.settings import Settings, read_settings
from halo.measure.bundled import find_bundled, prepare
from halo.measure.statistics import Ratio, ratio, summarize
from halo.record.profile import read_profile

MAX_MEAN = {"native": 3.0, "valgrind": 6.0}  # by engine
MAX_TIMES = {"native": 4.5, "valgrind": 12.0}
NATIVE, RECORDED = "native", "recorded"


@dataclass(frozen=True)
class Result:
    """A program's seconds, slowdown, and peak memory of the analyses."""

    program: str
    native: float
    recorded: float
    times: Ratio
    peak_bytes: int


def record_ways(
    settings: Settings, name: str, options: Sequence[str], profile: Path
) -> Sequence[Configuration]:
    bundled = find_bundled(settings, name)
    training, _ = prepare(settings, bundled)
    command = [str(training.target.path), *training.arguments]
    recorder = [sys.executable, "-m", "halo", "record", *options, "-o", str(profile), "--"]
    environment = {**settings.environment, **bundled.env}
    return Configuration(NATIVE, command, environment), Configuration(
        RECORDED, [*recorder, *command], environment
    )


def compare(settings: Settings, name: str, options: Sequence[str], trials: int) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "program.profile"
        seconds = measure(record_ways(settings, name, options, profile), trials)
        peak = read_profile(profile).recorder.peak_memory_bytes
    native, recorded = (summarize(seconds[label]).median for label in (NATIVE, RECORDED))
    return Result(name, native, recorded, ratio(seconds[RECORDED], seconds[NATIVE]), peak)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", default=PROGRAMS)
    parser.add_argument("--trials", type=int, default=11)
    parser.add_argument("--engine", choices=MAX_MEAN, default="native")
    parser.add_argument("--exact", action="store_true")
    given = parser.parse_args()
    options = ["--engine", given.engine, *["--exact"] * given.exact]
    found = []
    print("| program (training input) | native s | recorded s | times native | analyses, peak MB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in given.names:
        it = compare(read_settings(), name, options, given.trials)
        found.append(it)
        times = f"{it.times.value:.2f} ({it.times.low:.2f}–{it.times.high:.2f})"
        figures = f"{it.native:.2f} | {it.recorded:.2f} | {times} | {it.peak_bytes / 1e6:.0f}"
        print(f"| {name} | {figures} |", flush=True)
    mean = statistics.geometric_mean(it.times.value for it in found)
    print(f"\ngeometric mean {mean:.2f}")
    most = max(it.times.value for it in found)
    return int(mean > MAX_MEAN[given.engine] or most > MAX_TIMES[given.engine])


if __name__ == "__main__":
    sys.exit(main())
