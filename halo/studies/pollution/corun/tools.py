"""Runs halo-corun-stream and halo-corun."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from halo.base.errors import BadInput, MissingPart
from halo.base.settings import Settings
from halo.binary.process.native_tool import output_of


class StreamFacts(Struct, frozen=True):
    """What a stream has: accesses of the program, and requests by class of their objects."""

    accesses: int
    own_cycles: int
    complete: bool
    requests: int
    of_objects: int
    exact: int
    predicted: int
    online: int
    learnt: int


class Counts(Struct, frozen=True):
    """A program in a mix, to its first end; `runs`: how often it ended."""

    cycles: int
    accesses: int
    misses: int
    fetches: int
    demands: int
    missed_demands: int
    runs: int


class Run(Struct, frozen=True):
    """One run of a mix."""

    classes: str
    seed: int
    programs: tuple[Counts, ...]


class Mixed(Struct, frozen=True):
    """The output of halo-corun."""

    colours: int
    first: int
    last: int
    programs: tuple[StreamFacts, ...]
    runs: tuple[Run, ...]


class Tools:
    """The native programs, for one machine; `folder` is for its description.

    `machine` is the recorder's form of a machine file; empty: this machine. `restricted` is
    FIRST-LAST, colours; empty: the first eighth.
    """

    def __init__(self, settings: Settings, machine: str, restricted: str, folder: Path) -> None:
        self.machine = machine
        self._mixer, self._maker = settings.mixer, settings.stream_maker
        for tool in (self._mixer, self._maker):
            if not tool.is_file():
                raise MissingPart(f"{tool.name} is not built ({tool}); run: make build")
        self._options = []
        if machine:
            (folder / "machine").write_text(machine)
            self._options = [f"--machine={folder / 'machine'}"]
        self._restricted = [f"--restricted={restricted}"] if restricted else []

    def make_stream(self, trace: Path, stream: Path, options: Sequence[str]) -> None:
        """Writes the stream of an object trace; `BadInput` if the machine has no shared level."""
        self._run([str(self._maker), *self._options, *options, f"--output={stream}", str(trace)])

    def mix(self, streams: Sequence[Path], classes: Sequence[str], seeds: int) -> Mixed:
        """The programs on one last level, with each kind of classes and each seed."""
        kinds = [f"--classes={name}" for name in classes]
        others = [f"--with={stream}" for stream in streams[1:]]
        command = [str(self._mixer), *self._options, *self._restricted, *kinds]
        output = self._run([*command, f"--seeds={seeds}", *others, str(streams[0])])
        return msgspec.json.decode(output, type=Mixed)

    def check(self) -> None:
        """`BadInput` unless the machine has a shared last level and the range is part of it."""
        self._run([str(self._mixer), *self._options, *self._restricted, "--check", "none"])

    def _run(self, command: Sequence[str]) -> str:
        return output_of(command, lambda said: BadInput(f"{said[:1].upper()}{said[1:]}."))
