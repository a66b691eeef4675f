"""The part of a results file on aged heaps: contenders at levels of occupancy, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from halo.results.document import Damaged, count, flag, mapping, number, optional, rows, share, text
from halo.results.model import (
    Aged,
    AgedContender,
    AgedLevel,
    Kind,
    Simulated,
    SimulatedMachine,
    Split,
)
from halo.results.simulated import parse_machine, parse_simulated
from halo.results.trials import parse_trials

ROUNDED = 0.01
"""The parts of a split may miss the whole by so much."""


def parse_aged(raw: Any, what: str) -> Aged:
    """The checked measurement; `Damaged` names what is wrong."""
    found = mapping(raw, what)
    contenders = {
        label: _contender(it, f"{what}.contenders.{label}")
        for label, it in mapping(found.get("contenders"), f"{what}.contenders").items()
    }
    if not contenders:
        raise Damaged(f"{what} has no contenders")
    machine = optional(found.get("machine"), f"{what}.machine", parse_machine)
    return Aged(
        multiplier=number(found.get("multiplier"), f"{what}.multiplier"),
        shuffle=flag(found.get("shuffle"), f"{what}.shuffle"),
        seed=optional(found.get("seed"), f"{what}.seed", count),
        contenders=contenders,
        levels=_levels(found.get("levels"), f"{what}.levels", contenders, machine),
        machine=machine,
    )


def unmeasured(aged: Aged) -> str:
    """The first contender without trials at a level that should have them; empty where none."""
    for level in aged.levels:
        for label, contender in aged.contenders.items():
            needless = contender.groups and level.occupancy is None
            if not level.trials.get(label) and not needless:
                return f"{label} ({level.name})"
    return ""


def _contender(raw: Any, what: str) -> AgedContender:
    found = mapping(raw, what)
    kind = text(found.get("kind"), f"{what}.kind")
    if kind not in {known.value for known in Kind}:
        raise Damaged(f"{what}.kind is none of {', '.join(known.value for known in Kind)}")
    return AgedContender(
        kind=Kind(kind),
        allocator=text(found.get("allocator"), f"{what}.allocator"),
        plan=optional(found.get("plan"), f"{what}.plan", text),
        groups=flag(found.get("groups"), f"{what}.groups"),
        program=optional(found.get("program"), f"{what}.program", text),
    )


def _levels(
    raw: Any, what: str, known: Mapping[str, AgedContender], machine: SimulatedMachine | None
) -> tuple[AgedLevel, ...]:
    """The clean heap first, then from the highest occupancy to the lowest."""
    levels = [_level(it, what, known, machine) for it in rows(raw, what)]
    names = [level.occupancy for level in levels]
    if None not in names:
        raise Damaged(f"{what} has no clean heap")
    for level in levels:
        if names.count(level.occupancy) > 1:
            raise Damaged(f"{what} has {level.name} twice")
    return tuple(sorted(levels, key=_place))


def _place(level: AgedLevel) -> tuple[bool, float]:
    """Sorts the clean heap before all others, and much litter before little."""
    return level.occupancy is not None, -(level.occupancy or 0.0)


def _level(
    raw: Any, what: str, known: Mapping[str, AgedContender], machine: SimulatedMachine | None
) -> AgedLevel:
    found = mapping(raw, what)
    if "occupancy" not in found:
        raise Damaged(f"{what} has one without an occupancy")
    occupancy = optional(found["occupancy"], f"{what}.occupancy", share)
    here = f"{what} at {'clean' if occupancy is None else f'{occupancy:g}'}"
    level = AgedLevel(
        occupancy=occupancy,
        trials=parse_trials(found.get("trials"), f"{here}: trials"),
        split=_splits(found.get("split", {}), f"{here}: split"),
        simulated=_simulated(found.get("simulated", {}), f"{here}: simulated", machine),
    )
    for label in (*level.trials, *level.split, *level.simulated):
        if label not in known:
            raise Damaged(f"{here} has '{label}', which is none of the contenders")
    return level


def _simulated(raw: Any, what: str, machine: SimulatedMachine | None) -> dict[str, Simulated]:
    found = mapping(raw, what)
    if machine is None:
        if found:
            raise Damaged(f"{what}: the simulated machine is missing")
        return {}
    return {label: parse_simulated(it, label, machine) for label, it in found.items()}


def _splits(raw: Any, what: str) -> dict[str, Split]:
    return {label: _split(it, f"{what}.{label}") for label, it in mapping(raw, what).items()}


def _split(raw: Any, what: str) -> Split:
    found = mapping(raw, what)
    split = Split(
        inside=share(found.get("inside"), f"{what}.inside"),
        outside=share(found.get("outside"), f"{what}.outside"),
        samples=count(found.get("samples"), f"{what}.samples"),
    )
    if abs(split.inside + split.outside - 1) > ROUNDED:
        raise Damaged(f"{what}: inside and outside do not add up to 1")
    return split
