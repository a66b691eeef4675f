"""Which measurements may stand in one figure: of one machine, each program once."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

from halo.base.errors import BadInput
from halo.base.schema.results import Machine
from halo.binary.process.allocators import KNOWN
from halo.report.results.model import Measurement
from halo.report.results.reader import read_measurement

COMPARED_VERSIONS = ("halo", *KNOWN)


def read_measurements(paths: Sequence[Path]) -> list[Measurement]:
    """All of them, in that order. `BadInput` where they do not belong together."""
    found = [read_measurement(path) for path in paths]
    check_together(found)
    return found


def check_together(measurements: Sequence[Measurement]) -> None:
    """`BadInput` names the first thing in which two of them differ, or the program seen twice."""
    first = measurements[0]
    seen: dict[str, Path] = {}
    for other in measurements:
        difference = _difference(first.machine, other.machine) or _heaps(first, other)
        if difference:
            raise BadInput(
                f"{first.path} and {other.path} do not belong together: {difference}; measure both"
                " alike, or make one page or figure of each."
            )
        if other.program in seen:
            raise BadInput(
                f"{seen[other.program]} and {other.path} are both of the program {other.program};"
                " give one of them."
            )
        seen[other.program] = other.path


def _heaps(one: Measurement, other: Measurement) -> str:
    if one.litter == other.litter:
        return ""
    return f"their heaps are {one.litter or 'as they were'} and {other.litter or 'as they were'}"


def _difference(one: Machine, other: Machine) -> str:
    what = {
        "processor": "their processors",
        "cores": "their numbers of cores",
        "kernel": "their kernels",
        "huge_pages.enabled": "their settings of huge pages",
    }
    for key, words in what.items():
        values = attrgetter(key)(one), attrgetter(key)(other)
        if values[0] != values[1]:
            return f"{words} are {values[0]} and {values[1]}"
    for name in COMPARED_VERSIONS:
        versions = one.versions.get(name, "unknown"), other.versions.get(name, "unknown")
        if versions[0] != versions[1]:
            return f"their versions of {name} are {versions[0]} and {versions[1]}"
    return ""
