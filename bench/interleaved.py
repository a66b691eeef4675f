"""Measures commands against each other: fresh processes, in random order within each round."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

Seconds = dict[str, list[float]]
"""Of each way, a value for each round."""


@dataclass(frozen=True)
class Way:
    """One way to run a program; `afterwards` is called after each run, outside the time."""

    label: str
    command: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict)
    afterwards: Callable[[], None] = lambda: None


class Run(NamedTuple):
    """What one run took and printed, in which round."""

    trial: int
    label: str
    seconds: float
    output: str


def run(way: Way) -> tuple[float, str]:
    """Wall seconds, and what it printed; a run that fails ends this program."""
    began = time.perf_counter()
    done = subprocess.run(
        way.command, env=way.environment, capture_output=True, text=True, errors="replace"
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        command = " ".join(map(str, way.command))
        sys.exit(f"{way.label}: {command} ended with {done.returncode}: {done.stderr.strip()}")
    way.afterwards()
    return seconds, done.stdout


def interleave(ways: Sequence[Way], trials: int) -> Iterator[Run]:
    """Every way once a round, in random order; round 0 warms up and isn't to be counted."""
    for trial in range(trials + 1):
        for way in random.sample(ways, len(ways)):
            yield Run(trial, way.label, *run(way))


def measure(ways: Sequence[Way], trials: int) -> Seconds:
    """The first round isn't counted. All ways have to print the same."""
    times: Seconds = {way.label: [] for way in ways}
    printed: set[str] = set()
    for trial, label, seconds, output in interleave(ways, trials):
        printed.add(output)
        if len(printed) > 1:
            sys.exit(f"{label} prints something else than the others")
        if trial:
            times[label].append(seconds)
    return times
