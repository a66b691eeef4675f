"""The skeleton of a study: what its command does before and after the study itself."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from halo.base.errors import UsageError
from halo.base.settings import Settings


class ExitAnswer(IntEnum):
    """The exit status of a study that answers a question."""

    YES = 0
    NO = 1


@dataclass(frozen=True)
class Studied:
    """What a study found: what prints it, what makes its JSON document, and its answer."""

    show: Callable[[], None]
    document: Callable[[], Any]
    answer: ExitAnswer = ExitAnswer.YES


class Study(ABC):
    """A command with the option --json. `outputs` are its options that name files to write.

    `takes` says what it takes in place of a program; it is empty if it takes one.
    """

    usage: str
    takes = ""
    outputs: Sequence[str] = ("json",)

    @abstractmethod
    def study(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> Studied:
        """The study itself, when its outputs can be written."""

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.atomic import write_json
        from halo.base.files.destination import check_place

        if rest and self.takes:
            words = self.usage.partition(" [")[0]
            raise UsageError(f"`{words}` takes {self.takes} and no program; leave out the `--`.")
        for path in (getattr(options, name) for name in self.outputs):
            if path is not None:
                check_place(path)
        found = self.study(settings, options, rest)
        if options.json is not None:  # first, as standard output may be closed
            write_json(found.document(), options.json)
        found.show()
        return found.answer
