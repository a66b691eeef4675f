"""The program after `--`: its words, its environment, and what must be built to run it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from halo.base.errors import BadInput, MissingPart, UsageError
from halo.base.settings import Settings
from halo.binary.process.allocators import alone, find_allocator


def the_program(rest: Sequence[str], command: str) -> tuple[str, list[str]]:
    """The program and its arguments; `UsageError` if the `--` or the program is missing."""
    if not rest:
        raise UsageError(
            f"The program is missing: give it after `--`, for instance: halo {command} -- PROG ARGS"
        )
    return rest[0], list(rest[1:])


def two_programs(rest: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """Splits `PROG RECORDED-ARGS -- PROG ARGS` at the `--` before the second PROG."""
    usage = "write: halo run [OPTIONS] -- PROG RECORDED-ARGS -- PROG ARGS"
    places = [number for number, word in enumerate(rest) if word == "--"]
    if not rest or not places:
        raise UsageError(f"The command needs two `--`, one before each program; {usage}")
    program = rest[0]
    if program == "--":
        raise UsageError(f"A program is missing between the two `--`; {usage}")
    again = [place for place in places if list(rest[place + 1 : place + 2]) == [program]]
    if len(again) == 1:
        return program, list(rest[1 : again[0]]), list(rest[again[0] + 2 :])
    if again:
        raise UsageError(
            f"`-- {program}` stands more than once, so it is unclear where the measured run"
            " begins; name the program by another path inside the arguments."
        )
    if places[-1] == len(rest) - 1:
        raise UsageError(f"A program is missing after the second `--`; {usage}")
    if len(places) == 1 and _same_file(program, rest[places[0] + 1]):
        return program, list(rest[1 : places[0]]), list(rest[places[0] + 2 :])
    raise UsageError(
        f"The recorded run is of {program} and the measured run of {rest[places[0] + 1]}, but a"
        f" plan fits one binary only; {usage}"
    )


def one_or_two_programs(
    rest: Sequence[str], command: str
) -> tuple[str, list[str], list[str] | None]:
    """The program, its arguments, and those of the recorded run, if they were given first.

    A `--` that no program follows is an argument of the program.
    """
    name, arguments = the_program(rest, command)
    places = [at for at, word in enumerate(rest) if word == "--"]
    if not any(shutil.which(word) for at in places for word in rest[at + 1 : at + 2]):
        return name, list(arguments), None
    name, recorded, measured = two_programs(rest)
    return name, measured, recorded


def _same_file(one: str, other: str) -> bool:
    """Whether both names lead to the same binary, as `jq` and `/usr/bin/jq` do."""
    paths = [shutil.which(name) for name in (one, other)]
    return None not in paths and len({os.path.realpath(str(path)) for path in paths}) == 1


def check_runtime(settings: Settings) -> None:
    """Refuses a runtime that is not built, or whose path LD_PRELOAD cannot express."""
    from halo.plan.runtimes import runtimes

    for path in runtimes(settings.runtime):
        check_library("runtime", path)


def check_library(name: str, path: Path) -> None:
    """Refuses a library of ours that is not built, or whose path LD_PRELOAD cannot express."""
    if not path.is_file():
        raise MissingPart(f"The {name} is not built ({path}); run: make build")
    if ":" in str(path) or " " in str(path):
        raise UsageError(
            f"The path {path} holds a colon or a space, which LD_PRELOAD cannot express; move the"
            " checkout."
        )


def chosen_environment(
    settings: Settings, program: Path, allocator: str, plan: Path | None
) -> dict[str, str]:
    """The user's environment with that allocator, and with the plan if there is one."""
    from halo.plan.build_match import check_plan
    from halo.plan.runtimes import under_plan

    chosen = find_allocator(allocator)
    if plan is None:
        return alone(settings.environment, chosen)
    check_runtime(settings)
    check_plan(plan, program, halo=settings.command)
    return under_plan(settings.environment, settings.runtime, plan, chosen)


def deep_binding_warning(settings: Settings, program: Path) -> str:
    """A warning if the program opens libraries that a preloaded malloc cannot serve, else empty."""
    from halo.ship.doctor.finding import listed
    from halo.ship.doctor.opened_libraries import deep_binders

    found = deep_binders(settings, program)
    if not found:
        return ""
    return (
        f"halo: warning: {listed(found)} open{'s' if len(found) == 1 else ''} libraries with"
        " RTLD_DEEPBIND, which keeps them from using a preloaded malloc; before you rely on a"
        f" plan, check it with: halo doctor --run --plan PLAN -- {program.name} ARGS\n"
    )


def warn_of_deep_binding(settings: Settings, program: Path) -> None:
    """Prints the warning to stderr."""
    sys.stderr.write(deep_binding_warning(settings, program))


def input_file(path: Path | None) -> Path | None:
    """The absolute path of a file for standard input; BadInput where it cannot be read."""
    if path is None:
        return None
    if not path.is_file() or not os.access(path, os.R_OK):
        raise BadInput(f"The input file {path} does not exist or cannot be read; check its path.")
    return path.absolute()


def plain_environment(settings: Settings, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The user's environment without halo's own variables."""
    own = {k: v for k, v in settings.environment.items() if not k.startswith("HALO_")}
    return {**own, **(extra or {})}
