"""What a producer is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from halo.errors import MissingPart
from halo.foreground import Ending
from halo.recording import Limits
from halo.settings import Settings
from halo.target import Target


@dataclass(frozen=True)
class Command:
    """What to execute: its file, its arguments from the zeroth on, and its environment."""

    path: Path
    arguments: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Job:
    """A program that is to be recorded.

    Without the `guest` library allocations are not seen, and the program's own calls of `malloc`
    go where they would go natively: through the runtime, where that is preloaded.
    """

    target: Target
    arguments: Sequence[str]
    limits: Limits
    guest: bool = True


class Producer(Protocol):
    """Records a program: the parts lie in a folder once its session is over."""

    name: str
    summary: str
    slowdown: int
    """How many times as long a program takes under it, about."""
    start_seconds: float
    """Processor time before the program begins, about."""

    def parts(self, settings: Settings) -> Sequence[Path]:
        """The files of ours that decide what is recorded."""

    def check(self, settings: Settings) -> None:
        """MissingPart unless all that it needs is there."""

    def mark(self, settings: Settings) -> str:
        """What is in the command lines of the recorded processes, where they execute another file
        than the program's; empty where they execute that."""

    def session(
        self, settings: Settings, job: Job, folder: Path
    ) -> AbstractContextManager[Command]:
        """The command that runs the job recorded, which has ended when the session ends.

        `check` has passed before. The parts are to lie in `folder`, and its file `progress` may
        tell how far it is.
        """

    def judge(self, job: Job, ending: Ending, folder: Path) -> None:
        """RecordingFailed where it was the producer that ended the program."""

    def nothing(self, target: Target) -> str:
        """Why a program may have left no part, and what to do: the end of a sentence."""


def check_built(parts: Sequence[Path]) -> None:
    """MissingPart unless all of these files are there."""
    for part in parts:
        if not part.is_file():
            raise MissingPart(f"The recorder is not built ({part} is missing); run: make build")
