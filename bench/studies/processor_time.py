"""Compares the processor time of recorded programs with native runs, on the reference inputs.

processor_time.py [NAME...] [--trials N] [--training]

The engine is `native`. The program and the analyses are told apart. Fresh processes, interleaved,
the first round dropped; ratios of medians. Ends with status 1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.studies.everything import PROGRAMS
from halo.base.settings import Settings, read_settings
from halo.measure.bundled import find_bundled, prepare
from halo.record.native import NativeProducer
from halo.record.parts import Limits
from halo.record.producer import RecordingJob

MAX_MEAN = 1.3
MAX_TIMES = 2.5


def children_seconds() -> float:
    """Processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(
    path: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> tuple[float, float]:
    """Processor time and wall-clock time, in seconds."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        list(arguments),
        executable=path,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, time.perf_counter() - begin


def compare(settings: Settings, name: str, training: bool, trials: int) -> tuple[float, ...]:
    """Native seconds; then the program's, the analyses' and the wall-clock time over native."""
    bundled = find_bundled(settings, name)
    job = prepare(settings, bundled)[0 if training else 1]
    environment = {**settings.environment, **bundled.env}
    rows: list[tuple[float, ...]] = []
    for _ in range(trials + 1):
        alone = run(job.target.path, [job.target.name, *job.arguments], environment)
        before = children_seconds()
        with tempfile.TemporaryDirectory() as folder:
            recorded = RecordingJob(job.target, job.arguments, Limits())
            with NativeProducer().session(settings, recorded, Path(folder)) as command:
                under = run(command.path, command.arguments, {**environment, **command.environment})
        rows.append((*alone, *under, children_seconds() - before - under[0]))
    own, wall, recorded_own, recorded_wall, analyses = map(
        statistics.median, zip(*rows[1:], strict=True)
    )
    return own, recorded_own / own, analyses / own, recorded_wall / wall


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=PROGRAMS)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--training", action="store_true", help="on the training inputs")
    given = parser.parse_args()
    print("| program | native processor s | program | analyses | wall clock |")
    print("| --- | ---: | ---: | ---: | ---: |")
    found = []
    for name in given.names:
        own, program, analyses, wall = compare(read_settings(), name, given.training, given.trials)
        found.append(program)
        print(f"| {name} | {own:.2f} | {program:.2f} | {analyses:.2f} | {wall:.2f} |", flush=True)
    mean = statistics.geometric_mean(found)
    print(f"\ngeometric mean {mean:.2f}")
    return int(mean > MAX_MEAN or max(found) > MAX_TIMES)


if __name__ == "__main__":
    sys.exit(main())
