"""Checks that a plan was made for this build of a program, before the program runs under it."""

from __future__ import annotations

from pathlib import Path

from halo.elf import ElfError, build_id_of
from halo.errors import BadPlan
from halo.plan import Plan, read_plan


def check_plan(path: Path, program: Path | None) -> Plan:
    """Reads the plan. Raises `BadPlan` if it is unusable, or unusable for that program.

    Without this check the runtime would forward everything silently. If there is no reviewable
    form, the plan has no paths, and only the build-id of the program itself is compared.
    """
    plan = read_plan(path)
    if program is None:
        return plan
    if plan.review is None:
        _check_executable(plan, path, program)
        return plan
    recorded = str(plan.review.profile.get("program", {}).get("path", ""))
    matching = 0
    for module in plan.modules:
        its_program = _same(module.path, recorded)
        here = program if its_program else Path(module.path)
        if _build_id(here) == module.build_id:
            matching += 1
        elif its_program:
            raise BadPlan(
                f"The plan {path} was made for another build of {recorded} than {program}; record"
                " this build and plan again."
            )
    if plan.modules and not matching:
        raise BadPlan(
            f"The plan {path} was made for other builds of the libraries that {program} uses;"
            " record it and plan again."
        )
    return plan


def _check_executable(plan: Plan, path: Path, program: Path) -> None:
    if plan.executable is None:
        return
    if _build_id(program) != plan.modules[plan.executable].build_id:
        raise BadPlan(
            f"The plan {path} was made for another program than {program}, or another build of it;"
            " record this one and plan again."
        )


def _same(one: str, other: str) -> bool:
    return bool(one) and bool(other) and Path(one).resolve() == Path(other).resolve()


def _build_id(path: Path) -> str:
    try:
        return build_id_of(path)
    except (ElfError, OSError):
        return ""
