"""Checks that a plan was made for this build of a program, before the program runs under it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadPlan
from halo.binary.elf import ElfError, build_id_of
from halo.binary.elf.digest import digest_of
from halo.plan import Plan, read_plan
from halo.plan.model import PlanModule
from halo.plan.shared_functions import has_its_functions


@dataclass(frozen=True)
class Difference:
    """What a plan was made for, in words; `other_program` if `halo update` cannot make it fit."""

    words: str
    other_program: bool = False


class StalePlan(BadPlan):
    """A plan that is sound, but for another program, or another build of it or of its libraries.

    `without_effect` says that the program runs all the same.
    """

    without_effect = ""

    @classmethod
    def of(
        cls, path: Path, command: Sequence[Path | str], difference: Difference, halo: str
    ) -> StalePlan:
        """`command`: the program, and its arguments if they are known; `halo`: what starts halo."""
        program, line = Path(command[0]), shlex.join(map(str, command))
        way_out = f"make one for it with: {shlex.quote(halo)} run -- {line} -- {line}"
        if not difference.other_program:
            update = [halo, "update", str(path), "--for", str(program)]
            way_out = f"update it with: {shlex.join(update)}"
        cause = f"{path} was made for {difference.words}"
        error = cls(f"{cause}; {way_out}")
        error.without_effect = f"{cause}, so {program.name} runs without it; {way_out}"
        return error


def check_plan(
    path: Path, program: Path | None, arguments: Sequence[str] = (), *, halo: str
) -> Plan:
    """Reads the plan. Raises `BadPlan` if it is unusable, `StalePlan` if unusable for that program.

    Without this check the runtime would forward everything silently. If there is no reviewable
    form, the plan has no paths, and only the build-id of the program itself is compared.
    `arguments` of the program, and `halo`, which starts halo, are for a suggested command.
    """
    plan = read_plan(path)
    difference = None if program is None else staleness(plan, program)
    if program is not None and difference is not None:
        raise StalePlan.of(path, [program, *arguments], difference, halo)
    return plan


def staleness(plan: Plan, program: Path) -> Difference | None:
    """Which other build or program the plan is for; None if it has an effect on that program."""
    if plan.review is None:
        return _other_executable(plan, program)
    recorded = plan.review.command[0]
    matching = 0
    for at, module in enumerate(plan.modules):
        its_program = at == plan.executable or _same(module.path, recorded)
        here = program if its_program else Path(module.path)
        if is_module(here, module):
            matching += 1
        elif its_program:
            alike = ", which has the same build-id" if _build_id(here) == module.build_id else ""
            renamed = _stem(Path(recorded)) != _stem(program)
            if renamed and not has_its_functions(plan, program):
                return Difference(f"another program, {recorded}, than {program}{alike}", True)
            return Difference(f"another build of {program}{alike}")
    if plan.modules and not matching:
        return Difference(f"other builds of the libraries that {program} uses")
    return None


def _other_executable(plan: Plan, program: Path) -> Difference | None:
    if plan.executable is None or is_module(program, plan.modules[plan.executable]):
        return None
    return Difference(f"another program than {program}, or another build of it", True)


def _stem(program: Path) -> str:
    """The name without a version at its end, as builds of a program may differ in that."""
    return re.sub(r"(?<=.)([-_.]?v?\d+(\.\d+)+|[-_.]v?\d+)$", "", program.name)


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
