"""Samples the share of a program's time inside its allocator by perf, if that is available.

A sample counts as the allocator's by its shared object, as in Littering, "Results": the allocator's
library, the runtime, and for glibc's malloc all of libc.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from halo.base.schema.aged import Split
from halo.binary.process.allocators import PLAN_VARIABLE
from halo.measure.runs.launcher import Launcher, Streams
from halo.plan.runtimes import CORE, EXTRA

RATE = 997  # samples per second of processor time; a prime, to avoid lockstep with periodic work
LIBC = "libc.so.6"
_SAMPLE = re.compile(r"^\s*(\d+\.\d+):\s+\S+\s+\((.*)\)\s*$")


def find_perf() -> str | None:
    """The path of perf; None if it is missing, or may not count here."""
    perf = shutil.which("perf")
    if perf is None:
        return None
    command = [perf, "record", "-q", "-e", "cpu-clock:u", "-o", os.devnull, "--", "true"]
    done = subprocess.run(command, capture_output=True, check=False)
    return perf if done.returncode == 0 else None


def run_under(
    perf: str,
    launcher: Launcher,
    program: Path,
    argv: Sequence[str],
    environment: Mapping[str, str],
    streams: Streams,
    data: Path,
) -> None:
    """Runs the program once and writes its samples to `data`; no file if sampling fails.

    `env` sets LD_PRELOAD, which applies to the program and not to perf.
    """
    preloaded = environment.get("LD_PRELOAD", "")
    outside = {key: value for key, value in environment.items() if key != "LD_PRELOAD"}
    command = ["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock:u"]
    command += ["-F", str(RATE), "-o", str(data), "--", "env"]
    if preloaded:
        command.append(f"LD_PRELOAD={preloaded}")
    data.unlink(missing_ok=True)
    launcher.run(Path(perf), [*command, str(program), *argv[1:]], outside, streams)


def read_split(perf: str, data: Path, start: float, libraries: Sequence[str]) -> Split | None:
    """The split of the samples from `start` on, in monotonic seconds; None without samples.

    `libraries` are the names of the shared objects that count as the allocator.
    """
    command = [perf, "script", "-i", str(data), "-F", "time,ip,dso"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        return None
    return split_of(done.stdout.splitlines(), start, libraries)


def split_of(lines: Sequence[str], start: float, libraries: Sequence[str]) -> Split | None:
    """The split of the lines of `perf script -F time,ip,dso`."""
    inside = samples = 0
    for line in lines:
        sample = _SAMPLE.match(line)
        if sample is None or float(sample[1]) < start:
            continue
        samples += 1
        inside += Path(sample[2]).name in libraries
    if not samples:
        return None
    return Split(inside / samples, 1 - inside / samples, samples)


def allocator_objects(environment: Mapping[str, str], plain: Path | None) -> list[str]:
    """The shared objects that serve allocations: the next allocator's library, and the runtime.

    `plain`: that library; None for glibc's own.
    """
    found = [LIBC if plain is None else os.path.basename(os.path.realpath(plain))]
    if plain is not None:
        found.append(plain.name)
    if PLAN_VARIABLE in environment:
        found.extend((CORE, EXTRA))
    return found
