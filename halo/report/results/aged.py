"""Checks what was measured on aged heaps beyond its types, and sorts its levels."""

from __future__ import annotations

from msgspec.structs import replace

from halo.base.schema.aged import Aged, AgedLevel
from halo.base.schema.document import Damaged
from halo.report.results.simulated import recosted

ROUNDED = 0.01
"""The parts of a split may miss the whole by so much."""


def checked(aged: Aged) -> Aged:
    """The clean heap first, then from the highest occupancy to the lowest.

    `Damaged` if parts of it contradict each other.
    """
    if not aged.configurations:
        raise Damaged("aged has no configurations")
    occupancies = [level.occupancy for level in aged.levels]
    if None not in occupancies:
        raise Damaged("aged.levels has no clean heap")
    for level in aged.levels:
        if occupancies.count(level.occupancy) > 1:
            raise Damaged(f"aged.levels has {level.name} twice")
    levels = (_checked(level, aged) for level in aged.levels)
    return replace(aged, levels=tuple(sorted(levels, key=_place)))


def unmeasured(aged: Aged) -> str:
    """The first configuration without trials at a level that should have them; empty if none."""
    for level in aged.levels:
        for label, config in aged.configurations.items():
            needless = config.groups and level.occupancy is None
            if not level.trials.get(label) and not needless:
                return f"{label} ({level.name})"
    return ""


def _place(level: AgedLevel) -> tuple[bool, float]:
    """Sorts the clean heap before all others, and much litter before little."""
    return level.occupancy is not None, -(level.occupancy or 0.0)


def _checked(level: AgedLevel, aged: Aged) -> AgedLevel:
    here = f"aged.levels at {level.name}"
    for label in (*level.trials, *level.split, *level.runs):
        if label not in aged.configurations:
            raise Damaged(f"{here} has '{label}', which is none of the configurations")
    for label, split in level.split.items():
        if abs(split.inside + split.outside - 1) > ROUNDED:
            raise Damaged(f"{here}: inside and outside of {label} do not add up to 1")
    if not level.runs:
        return level
    if not aged.machine:
        raise Damaged(f"{here}: the simulated machine is missing")
    return replace(level, simulated=recosted(level.runs, aged.machine, here))
