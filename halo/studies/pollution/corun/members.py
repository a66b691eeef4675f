"""The programs of a mix: from a file of mixes, or from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.binary.process.target import Target, find_target
from halo.measure.runs.wrappers import refuse_known_launcher

MAX_PROGRAMS = 8


@dataclass(frozen=True)
class Member:
    """A program and its arguments; `role` is `polluter`, `victim`, `neutral` or empty.

    `limit`: accesses after which it is cut; 0: it runs to its end.
    """

    name: str
    target: Target
    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    limit: int = 0


@dataclass(frozen=True)
class PlannedMix:
    """Members that run together, and the role of each."""

    name: str
    kind: str
    members: tuple[Member, ...]
    roles: tuple[str, ...]


def split_programs(rest: Sequence[str]) -> list[list[str]]:
    """`PROG ARGS -- PROG ARGS ...` as one list of words for each program."""
    programs: list[list[str]] = [[]]
    for word in rest:
        if word == "--":
            programs.append([])
        else:
            programs[-1].append(word)
    if not all(programs):
        raise UsageError(
            "A program is missing; write: halo study corun [OPTIONS] -- PROG ARGS -- PROG ARGS"
        )
    return programs


def members_of(settings: Settings, programs: Sequence[Sequence[str]], limit: int) -> list[Member]:
    """The programs of a command line; equal names get a number."""
    found: list[Member] = []
    names: dict[str, int] = {}
    for name, *arguments in programs:
        target = find_target(name, settings.environment, arguments)
        refuse_known_launcher(target, arguments, settings.environment)
        plain = Path(name).name
        names[plain] = names.get(plain, 0) + 1
        unique = plain if names[plain] == 1 else f"{plain}-{names[plain]}"
        found.append(Member(unique, target, tuple(arguments), limit=limit))
    return found


def check_together(count: int) -> None:
    """UsageError unless that many programs can share a cache."""
    if not 2 <= count <= MAX_PROGRAMS:
        raise UsageError(
            f"A mix has 2 to {MAX_PROGRAMS} programs, not {count}; for programs by themselves, use"
            " --alone."
        )
