"""Speed-ups of the programs of a mix, and their summary over seeds and mixes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from halo.studies.pollution.corun.categories import POLLUTER, VICTIM
from halo.studies.pollution.corun.document import Mix, MixedProgram
from halo.studies.pollution.corun.members import PlannedMix
from halo.studies.pollution.corun.tools import Mixed, Run

OPEN = "open"


def mixes_of(planned: PlannedMix, mixed: Mixed) -> list[Mix]:
    """One mix for each kind of classes; `mixed` has runs with all objects open, too."""
    by_classes: dict[str, list[Run]] = {}
    for run in mixed.runs:
        by_classes.setdefault(run.classes, []).append(run)
    before = by_classes[OPEN]  # by seed, as the others
    found = []
    for classes, runs in by_classes.items():
        programs = tuple(
            MixedProgram(
                name=member.name,
                role=role,
                speedups=tuple(
                    old.programs[at].cycles / run.programs[at].cycles
                    for old, run in zip(before, runs, strict=True)
                ),
                cycles=tuple(run.programs[at].cycles for run in runs),
                misses=tuple(run.programs[at].misses for run in runs),
                requests=runs[0].programs[at].accesses,
                runs=tuple(run.programs[at].runs for run in runs),
            )
            for at, (member, role) in enumerate(zip(planned.members, planned.roles, strict=True))
        )
        found.append(Mix(name=planned.name, kind=planned.kind, classes=classes, programs=programs))
    return found


def middle(program: MixedProgram) -> float:
    """The median speed-up over the seeds."""
    return statistics.median(program.speedups)


@dataclass(frozen=True)
class Summary:
    """Medians of programs over the mixes of a kind; without programs of a role, 1."""

    kind: str
    classes: str
    mixes: int
    victims: float  # arithmetic mean
    best: float  # victim
    worst_victim: float
    worst_polluter: float
    least: float  # of all programs
    most: float


def summarise(mixes: Iterable[Mix]) -> list[Summary]:
    """By kind and classes, in the order of the mixes."""
    groups: dict[tuple[str, str], list[Mix]] = {}
    for mix in mixes:
        groups.setdefault((mix.kind, mix.classes), []).append(mix)
    return [_summary(kind, classes, group) for (kind, classes), group in groups.items()]


def _summary(kind: str, classes: str, mixes: Sequence[Mix]) -> Summary:
    def medians(role: str) -> list[float]:
        return [middle(it) for mix in mixes for it in mix.programs if role in ("", it.role)]

    victims, polluters, everything = medians(VICTIM), medians(POLLUTER), medians("")
    return Summary(
        kind,
        classes,
        len(mixes),
        math.fsum(victims) / len(victims) if victims else 1.0,
        max(victims, default=1.0),
        min(victims, default=1.0),
        min(polluters, default=1.0),
        min(everything),
        max(everything),
    )
