"""Runs all checks of a program, the most important first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import Unsuitable
from halo.base.settings import Settings
from halo.binary.elf import ElfError
from halo.binary.process.allocators import preload
from halo.binary.process.target import Anatomy, Target, examine
from halo.plan.runtimes import CORE, EXTRA, runtime_of
from halo.ship.doctor.allocator_functions import examine_functions
from halo.ship.doctor.environment import (
    describe_thread_locals,
    examine_surroundings,
    find_unloadable,
    preloaded,
)
from halo.ship.doctor.finding import Finding, Weight, fine, note, refusal
from halo.ship.doctor.headers import describe, find_unsuitable
from halo.ship.doctor.launchers import examine_launcher
from halo.ship.doctor.loader import ask_loader
from halo.ship.doctor.module import LinkedModule, read_module
from halo.ship.doctor.opened_libraries import examine_opening
from halo.ship.doctor.own_malloc import Company, allocating, examine_allocators
from halo.ship.doctor.plan_fit import examine_plan
from halo.ship.doctor.trial_run import examine_run


@dataclass(frozen=True)
class Case:
    """The program to examine; `run` allows to start it once, with `arguments`."""

    target: Target
    arguments: Sequence[str] = ()
    plan: Path | None = None
    run: bool = False


def examine_program(settings: Settings, case: Case) -> Iterator[Finding]:
    """The findings; the program runs at the end only, and only if there is no refusal."""
    refused = False
    for finding in _without_running(settings, case):
        refused = refused or finding.weight is Weight.REFUSAL
        yield finding
    if refused:
        return
    yield fine("suitable", "halo can place its objects")
    if case.run:
        yield from examine_run(settings, case.target, case.arguments, case.plan)


def _without_running(settings: Settings, case: Case) -> Iterator[Finding]:
    launcher = examine_launcher(case.target, case.arguments, settings.environment)
    if launcher is not None:
        yield launcher
        return
    anatomy = _anatomy(case.target.path)
    if anatomy is not None:
        yield from describe(anatomy)
    unsuitable = find_unsuitable(case.target, anatomy)
    if unsuitable is not None:
        yield unsuitable
    elif anatomy is not None:
        yield from _with_libraries(settings, case, anatomy)


def _anatomy(path: Path) -> Anatomy | None:
    try:
        return examine(path)
    except Unsuitable:
        return None


def _with_libraries(settings: Settings, case: Case, anatomy: Anatomy) -> Iterator[Finding]:
    """Findings from the libraries that the loader would load with the program."""
    try:
        program = read_module(case.target.path)
    except ElfError as error:
        yield refusal("headers", str(error), "give an intact file")
        return
    served_by = settings.runtime if case.plan is None else runtime_of(settings.runtime, case.plan)
    own = served_by if served_by.is_file() else None
    plain = ask_loader(anatomy.interpreter, program.path, settings.environment)
    together = ask_loader(anatomy.interpreter, program.path, preload(settings.environment, [own]))
    unloadable = find_unloadable(case.target.name, own, plain, together)
    if unloadable is not None:
        yield unloadable
        return
    everything = _readable(p for p in plain.libraries if p.name not in (CORE, EXTRA))
    libraries = [module for module in everything if not module.is_c_library]
    yield fine("libraries", f"{len(everything)} loaded at the start")
    yield from examine_surroundings(settings, plain, (program, *libraries))
    runtime = read_module(own) if own is not None else None
    company = Company(program, libraries, preloaded(settings), runtime)
    yield from examine_allocators(company, settings.environment)
    yield from examine_functions(company.modules, runtime)
    yield from examine_opening((program, *libraries))
    if runtime is not None:
        yield describe_thread_locals(runtime, (program, *everything))
    if program.is_go:
        yield note(
            "Go",
            f"{program.name} is a Go program, whose own heap halo does not serve: only its C"
            " code calls malloc",
            "none for Go's heap; record it to see what is left",
        )
    elif not allocating((program, *libraries)):
        yield note(
            "allocations",
            f"neither {program.name} nor its libraries call malloc or operator new themselves",
            "record it to see whether what it opens as it runs does",
        )
    if case.plan is not None:
        yield from examine_plan(case.plan, program, everything, settings.command)


def _readable(paths: Iterable[Path]) -> list[LinkedModule]:
    """The modules without those that cannot be parsed although the loader accepts them."""
    found = []
    for path in paths:
        try:
            found.append(read_module(path))
        except (ElfError, OSError):
            continue
    return found
