"""Compares commands: fresh processes, in random order within each round."""

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
"""Values by configuration, one for each round."""


@dataclass(frozen=True)
class Configuration:
    """A configuration of a program; `afterwards` is called after each run, outside the time."""

    label: str
    command: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict)
    afterwards: Callable[[], None] = lambda: None


class Run(NamedTuple):
    """The time and the output of one run, and its round."""

    trial: int
    label: str
    seconds: float
    output: str


def run(config: Configuration) -> tuple[float, str]:
    """Wall seconds and output of a run; a failed run ends this program."""
    began = time.perf_counter()
    done = subprocess.run(
        config.command,
        env=config.environment,
        capture_output=True,
        text=True,
        errors="replace",
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        command = " ".join(map(str, config.command))
        sys.exit(f"{config.label}: {command} ended with {done.returncode}: {done.stderr.strip()}")
    config.afterwards()
    return seconds, done.stdout


def interleave(configs: Sequence[Configuration], trials: int) -> Iterator[Run]:
    """Runs every configuration once per round, in random order; round 0 is a warm-up round."""
    for trial in range(trials + 1):
        for config in random.sample(configs, len(configs)):
            yield Run(trial, config.label, *run(config))


def measure(configs: Sequence[Configuration], trials: int) -> Seconds:
    """Seconds by configuration, without the warm-up round; all outputs have to be the same."""
    times: Seconds = {config.label: [] for config in configs}
    printed: set[str] = set()
    for trial, label, seconds, output in interleave(configs, trials):
        printed.add(output)
        if len(printed) > 1:
            sys.exit(f"{label} prints something else than the others")
        if trial:
            times[label].append(seconds)
    return times
