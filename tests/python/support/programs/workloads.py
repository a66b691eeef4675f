"""The bundled workloads: how tests run them, and the random numbers that they draw."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from support.command import BUILD, REPOSITORY

LIST = REPOSITORY / "bench" / "programs" / "workloads.toml"
WORKLOADS = {entry["name"]: entry for entry in tomllib.loads(LIST.read_text())["workload"]}
MASK = (1 << 64) - 1


def mix64(value: int) -> int:
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & MASK
    return value ^ (value >> 31)


class Rng:
    """The same numbers as bench/programs/common/rng.h."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return mix64(self.state)

    def below(self, bound: int) -> int:
        return ((self.next() >> 32) * bound) >> 32

    def unit(self) -> float:
        return (self.next() >> 11) * 2.0**-53

    def shuffle(self, items: list[Any]) -> None:
        for left in range(len(items), 1, -1):
            other = self.below(left)
            items[left - 1], items[other] = items[other], items[left - 1]


def run(
    name: str, arguments: list[str], preload: Path | None = None
) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    if preload:
        environment["LD_PRELOAD"] = str(preload)
    program = BUILD / "bench" / WORKLOADS[name]["program"]
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, env=environment, timeout=60
    )


def output(name: str, *arguments: object, preload: Path | None = None) -> str:
    result = run(name, [str(argument) for argument in arguments], preload)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def numbers(name: str, *arguments: object) -> list[float]:
    """The figures of the summary, in order; the checksum is on the second line."""
    summary = output(name, *arguments).splitlines()[0]
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", summary)]


def checksum(name: str, *arguments: object) -> int:
    """The checksum on the last line of the output."""
    return int(output(name, *arguments).split()[-1], 16)


def add_to_checksum(sum_: int, value: int) -> int:
    """As in bench/programs/common/checksum.h."""
    return (((sum_ ^ value) * 0x100000001B3 & MASK) + (sum_ >> 47)) & MASK
