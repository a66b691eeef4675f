"""Checks that a plan was made for this build of a program, before the program runs under it."""

from __future__ import annotations

import shlex
from pathlib import Path

from halo.elf import ElfError, build_id_of
from halo.elf.digest import digest_of
from halo.errors import BadPlan
from halo.plan import Plan, read_plan
from halo.plan.model import PlanModule


class StalePlan(BadPlan):
    """A plan that is sound, but for another build of the program or of its libraries.

    `without_effect` says that the program runs all the same.
    """

    without_effect = ""

    @classmethod
    def of(cls, path: Path, program: Path, difference: str) -> StalePlan:
        command = f"halo update {shlex.quote(str(path))} --for {shlex.quote(str(program))}"
        cause, way_out = f"{path} was made for {difference}", f"update it with: {command}"
        error = cls(f"{cause}; {way_out}")
        error.without_effect = f"{cause}, so {program.name} runs without it; {way_out}"
        return error


def check_plan(path: Path, program: Path | None) -> Plan:
    """Reads the plan. Raises `BadPlan` if it is unusable, `StalePlan` if unusable for that program.

    Without this check the runtime would forward everything silently. If there is no reviewable
    form, the plan has no paths, and only the build-id of the program itself is compared.
    """
    plan = read_plan(path)
    difference = "" if program is None else staleness(plan, program)
    if program is not None and difference:
        raise StalePlan.of(path, program, difference)
    return plan


def staleness(plan: Plan, program: Path) -> str:
    """Which other build the plan is for, in words; empty if it has an effect on that program."""
    if plan.review is None:
        return _other_executable(plan, program)
    recorded = str(plan.review.profile.get("program", {}).get("path", ""))
    matching = 0
    for at, module in enumerate(plan.modules):
        its_program = at == plan.executable or _same(module.path, recorded)
        here = program if its_program else Path(module.path)
        if is_module(here, module):
            matching += 1
        elif its_program:
            alike = ", which has the same build-id" if _build_id(here) == module.build_id else ""
            if Path(recorded).name != program.name:
                return f"another program, {recorded}, than {program}{alike}"
            return f"another build of {program}{alike}"
    if plan.modules and not matching:
        return f"other builds of the libraries that {program} uses"
    return ""


def _other_executable(plan: Plan, program: Path) -> str:
    if plan.executable is None or is_module(program, plan.modules[plan.executable]):
        return ""
    return f"another program than {program}, or another build of it"


def is_module(path: Path, module: PlanModule) -> bool:
    """Whether the file is a module of the plan: by its build-id, and its layout if that is known.

    The path of the module does not matter.
    """
    if _build_id(path) != module.build_id:
        return False
    return module.layout in (0, digest_of(path).layout)


def _same(one: str, other: str) -> bool:
    return bool(one) and bool(other) and Path(one).resolve() == Path(other).resolve()


def _build_id(path: Path) -> str:
    try:
        return build_id_of(path)
    except (ElfError, OSError):
        return ""
