"""How much of a program's time passes inside its allocator: sampled by perf, where it is there.

Samples are assigned by the shared object that they fall into, as in the study of littering
("Results"): the allocator's own, the runtime's, and for glibc's malloc all of libc.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.allocators import PLAN_VARIABLE
from halo.trials.launcher import Launcher, Streams

RATE = 997  # samples a second of processor time; a prime, so that it beats with nothing
LIBC = "libc.so.6"
_SAMPLE = re.compile(r"^\s*(\d+\.\d+):\s+\S+\s+\((.*)\)\s*$")


@dataclass(frozen=True)
class Split:
    """Fractions of the samples, which add up to 1, and how many there were."""

    inside: float
    outside: float
    samples: int


def find_perf() -> str | None:
    """The profiler's path; None where there is none, or it may not count here."""
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
    """One run of the program, its samples left in `data`; no file where it could not be.

    What is preloaded is for the program, not for perf: `env` sets it.
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
    """Of the samples from `start` on, in seconds of the monotonic clock; None where there is none.

    `libraries` are the names of the shared objects that count as the allocator.
    """
    command = [perf, "script", "-i", str(data), "-F", "time,ip,dso"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        return None
    return split_of(done.stdout.splitlines(), start, libraries)


def split_of(lines: Sequence[str], start: float, libraries: Sequence[str]) -> Split | None:
    """The same, of the lines that `perf script -F time,ip,dso` writes."""
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
        found.append("libhalo.so")
    return found
