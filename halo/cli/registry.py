"""The interface of commands, and the lists of all commands and groups."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from halo import registry
from halo.base.settings import Settings


class Command(Protocol):
    """A command: its name, one line of help, its options, and its action.

    `examples` are one or two command lines, as they would be typed.
    """

    name: str
    summary: str
    usage: str

    @property
    def examples(self) -> Sequence[str]: ...

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        """Does the work and returns the exit status; `rest` is all that follows the first `--`."""


@dataclass(frozen=True)
class CommandGroup:
    """Commands, and groups of these, that are written `halo NAME COMMAND`."""

    name: str
    summary: str
    commands: Sequence[Command | CommandGroup]


COMMANDS: Sequence[Command] = registry.load(registry.COMMANDS)

TRACE = CommandGroup(
    "trace",
    "Trace a program built with halo-cc or halo-c++, and analyse its trace.",
    registry.load(registry.TRACE_COMMANDS),
)
HEAP = CommandGroup(
    "heap",
    "Run and measure a program on an aged heap.",
    registry.load(registry.HEAP_COMMANDS),
)
EVAL = CommandGroup(
    "eval",
    "Measure allocators, strategies, simulated caches and predictors, without choosing a plan.",
    registry.load(registry.EVAL_COMMANDS),
)
STUDY = CommandGroup(
    "study",
    "Study one mechanism, as in a paper.",
    (*registry.load(registry.STUDY_COMMANDS), TRACE, EVAL, HEAP),
)
ALL: Sequence[Command | CommandGroup] = (*COMMANDS, STUDY)


def every_command() -> list[tuple[str, Command]]:
    """All commands, with the words that they are written by."""
    return [(words, it) for words, it in _every(ALL) if not isinstance(it, CommandGroup)]


def every_group() -> list[tuple[str, CommandGroup]]:
    """All groups, with the words that they are written by."""
    return [(words, it) for words, it in _every(ALL) if isinstance(it, CommandGroup)]


def _every(
    members: Sequence[Command | CommandGroup], before: str = ""
) -> Iterator[tuple[str, Command | CommandGroup]]:
    for member in members:
        yield before + member.name, member
        if isinstance(member, CommandGroup):
            yield from _every(member.commands, f"{before}{member.name} ")
