"""The interface of producers, which record a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from halo.base.errors import MissingPart, RecordingFailed
from halo.base.settings import Settings
from halo.binary.process.foreground import Ending
from halo.binary.process.target import Target
from halo.record.parts import Limits
from halo.record.profile import SAMPLING, Profile


class EngineFailed(RecordingFailed):
    """An engine cannot record a program, which `cause` says without its subject, the program."""

    def __init__(self, cause: str, program: str = "It", remedy: str = "") -> None:
        super().__init__(f"{program} {cause}{f'; {remedy}' if remedy else ''}.")
        self.cause = cause


@dataclass(frozen=True)
class CommandLine:
    """A command: its file, its arguments from the zeroth on, and its environment."""

    path: Path
    arguments: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class RecordingJob:
    """A program to record.

    Without the `guest` library allocations are not recorded, and the program's calls of `malloc`
    are bound as natively: to the runtime, if that is preloaded.
    """

    target: Target
    arguments: Sequence[str]
    limits: Limits
    guest: bool = True


class Producer(Protocol):
    """Records a program; the parts are in a folder when its session ends."""

    name: str
    summary: str
    records_any_program: bool
    """Whether programs need no build of their own."""
    records_everything: bool
    """Whether it can record all accesses."""
    slowdown: int
    """The approximate slowdown of a program under it."""
    start_seconds: float
    """The approximate processor time before the program starts, in seconds."""

    def parts(self, settings: Settings) -> Sequence[Path]:
        """halo's own files that the recording depends on."""

    def check(self, settings: Settings) -> None:
        """Raises `MissingPart` unless everything that it needs is installed."""

    def mark(self, settings: Settings) -> str:
        """A string in the command lines of the recorded processes, if they execute another file
        than the program's; empty if they execute that."""

    def session(
        self, settings: Settings, job: RecordingJob, folder: Path
    ) -> AbstractContextManager[CommandLine]:
        """The command that runs and records the job; it has ended when the session ends.

        `check` has passed before. The parts are written to `folder`, whose file `progress` may
        contain the counters.
        """

    def judge(self, job: RecordingJob, ending: Ending, folder: Path) -> None:
        """Raises `EngineFailed` if the producer itself ended the program."""

    def suspicion(self, ending: Ending, folder: Path) -> str:
        """What differs under the producer and may be why the program ended in this way.

        It is the end of a sentence that begins with the program's name; empty if nothing is known.
        """

    def nothing(self, target: Target) -> str:
        """The remedy if a program has written no part: the end of a sentence."""


class PlainProducer:
    """What most producers share: all that they need is built, and they never end a program."""

    records_any_program = True
    records_everything = True

    def parts(self, settings: Settings) -> Sequence[Path]:
        raise NotImplementedError

    def check(self, settings: Settings) -> None:
        check_built(self.parts(settings))

    def mark(self, settings: Settings) -> str:
        return ""

    def judge(self, job: RecordingJob, ending: Ending, folder: Path) -> None:
        pass

    def suspicion(self, ending: Ending, folder: Path) -> str:
        return ""

    def nothing(self, target: Target) -> str:
        return "check that it runs to its end, and the recorder with: halo doctor"


def has_no_bursts(producer: Producer, profile: Profile) -> bool:
    """Whether the program allocated, but the producer had no burst in it: bursts are impossible."""
    has_allocated = profile.totals.allocations != 0
    return not producer.records_everything and has_allocated and SAMPLING.of(profile) is None


def check_built(parts: Sequence[Path]) -> None:
    """Raises `MissingPart` unless all these files exist."""
    for part in parts:
        if not part.is_file():
            raise MissingPart(f"The recorder is not built ({part} is missing); run: make build")
