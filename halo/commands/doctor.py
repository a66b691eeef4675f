"""`halo doctor`: says what works on this machine, and of a program whether halo can place it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from halo.checks import Check, check_machine
from halo.errors import HaloError, MissingPart, Unsuitable
from halo.settings import Settings
from halo.target import Anatomy, Target, check_suitable, examine, locate_target


class DoctorCommand:
    name = "doctor"
    summary = "Say what works on this machine and what is missing, with the command that mends it."
    usage = "halo doctor [-- PROG]"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        pass

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        failures = show(check_machine(settings))
        if rest:
            target = locate_target(rest[0], settings.environment)
            print(f"\n{target.path}")
            if show(check_program(target)):
                return Unsuitable.exit_status
        if failures:
            return MissingPart.exit_status
        print("\nAll is well.")
        return 0


def show(checks: Iterable[Check]) -> int:
    """Prints the checks, and counts the needed ones that failed."""
    failures = 0
    for check in checks:
        state = "OK" if check.good else "missing" if check.needed else "note"
        print(f"{state:<8} {check.what:<22} {check.detail}", flush=True)
        if not check.good and check.mend:
            print(f"{'':<8} {'':<22} mend it with: {check.mend}")
        failures += check.needed and not check.good
    return failures


def check_program(target: Target) -> Iterator[Check]:
    """What halo sees in a program, and the verdict."""
    try:
        check_suitable(target)
        verdict = Check("suitable", True, "halo can place its objects")
    except HaloError as error:
        cause, _, way_out = str(error).partition("; ")
        verdict = Check("suitable", False, cause, way_out)
    try:
        anatomy = examine(target.path)
    except Unsuitable:
        yield verdict
        return
    yield from _describe(anatomy)
    yield verdict


def _describe(anatomy: Anatomy) -> Iterator[Check]:
    linked = f"dynamic, loaded by {anatomy.interpreter}" if anatomy.interpreter else "static"
    pie = "yes" if anatomy.position_independent else "no"
    yield Check("machine", True, f"{anatomy.machine.removeprefix('EM_')}, {anatomy.bits} bits")
    yield Check("linked", True, linked)
    yield Check("position-independent", True, pie)
    yield Check(
        "symbols", True, "stripped: the plan names addresses" if anatomy.stripped else "yes"
    )
    yield Check("own malloc", True, "yes" if anatomy.own_malloc else "no")
    yield Check(
        "build-id",
        bool(anatomy.build_id),
        anatomy.build_id or "none: its own call sites cannot be recognised, its libraries' can",
        "link it with -Wl,--build-id",
        needed=False,
    )
    yield Check(
        "frame rules",
        anatomy.has_frame_rules,
        ".eh_frame" if anatomy.has_frame_rules else "no .eh_frame: its callers cannot be walked",
        "compile it with -fasynchronous-unwind-tables",
        needed=False,
    )
