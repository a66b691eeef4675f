"""Checks that what is deployed works with the program, by the checks of `halo doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from halo.binary.elf import ElfError
from halo.binary.process.allocators import preload
from halo.binary.process.target import Target, check_suitable, examine
from halo.ship.doctor.environment import find_unloadable
from halo.ship.doctor.finding import Finding, Weight
from halo.ship.doctor.loader import ask_loader
from halo.ship.doctor.module import LinkedModule, read_module
from halo.ship.doctor.plan_fit import examine_plan


def check_fit(
    target: Target,
    plan: Path | None,
    libraries: Sequence[Path],
    environment: Mapping[str, str],
    halo: str,
) -> list[str]:
    """Notes on a program under this plan and these preloaded libraries; the program is not run.

    Raises the refusal of the first check that fails: `BadPlan` for a plan of another build,
    `Unsuitable` for a program that LD_PRELOAD does not reach, `CannotRun` for a library that the
    loader does not load. `halo`: what starts halo, for a suggested command.
    """
    check_suitable(target, environment)
    notes = []
    for finding in _findings(target, plan, libraries, environment, halo):
        if finding.weight is Weight.REFUSAL:
            raise finding.error(f"{finding.sentence}; {finding.way_out}.")
        if finding.weight is Weight.NOTE:
            notes.append(f"{finding.sentence}; {finding.way_out}.")
    return notes


def _findings(
    target: Target,
    plan: Path | None,
    libraries: Sequence[Path],
    environment: Mapping[str, str],
    halo: str,
) -> Iterator[Finding]:
    interpreter = examine(target.path).interpreter
    own = {k: v for k, v in environment.items() if k != "LD_PRELOAD"}
    plain = ask_loader(interpreter, target.path, own)
    together = ask_loader(interpreter, target.path, preload(own, libraries))
    for library in libraries:
        unloadable = find_unloadable(target.name, library, plain, together)
        if unloadable is not None:
            yield unloadable
            return
    if plan is not None:
        modules = [module for path in plain.libraries if (module := _module(path)) is not None]
        yield from examine_plan(plan, read_module(target.path), modules, halo)


def _module(path: Path) -> LinkedModule | None:
    try:
        return read_module(path)
    except ElfError:
        return None
