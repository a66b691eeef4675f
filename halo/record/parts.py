"""The parameters and the results of a recording."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from halo.base.files.scratch import scratch_folder
from halo.binary.process.foreground import Ending
from halo.record.sink_options import SINK_OPTIONS, SinkOption

# The path of a socket has at most 107 bytes; folders of halo in TMPDIR take up to 43 of them.
MAX_TMPDIR_BYTES = 64

MAX_OBJECT = 4096
# A quarter of the largest first level among the machines of halo. Yardımcı and Kaeli, section 2:
# larger objects compete with all others, wherever they are.
MAX_OBJECT_OF_CONFLICTS = 16384
MAX_TRACED = (1 << 28) - 1
"""The size in bytes of the largest object that an object trace can have."""


def largest_followed(conflicts: bool) -> int:
    """The default size in bytes of the largest tracked object, with or without conflicts."""
    return MAX_OBJECT_OF_CONFLICTS if conflicts else MAX_OBJECT


@dataclass(frozen=True)
class Limits:
    """The recorder's parameters; unless it is `exact`, a producer may record bursts of accesses.

    `sinks` holds options of sinks by name; the others have their defaults. Raises `KeyError` if an
    option does not exist.
    """

    max_object: int = MAX_OBJECT
    sinks: Mapping[str, int | str] = field(default_factory=dict)
    exact: bool = False

    def __post_init__(self) -> None:
        unknown = self.sinks.keys() - {option.name for option in SINK_OPTIONS}
        if unknown:
            raise KeyError(f"sinks have no options {sorted(unknown)}")

    def arguments(self, folder: Path) -> list[str]:
        """The recorder's arguments NAME=VALUE, for parts in that folder."""
        values: dict[str, int | str] = {"max_object": self.max_object}
        for option in SINK_OPTIONS:
            value = self.sinks.get(option.name, option.default)
            if option.file:
                value = str(folder / option.file) if value else ""
            values[option.name] = value
        return [f"{name}={value}" for name, value in values.items() if value != ""]

    @property
    def need_exact(self) -> bool:
        return self.exact or any(option.exact for option in self._given())

    @property
    def need_everything(self) -> bool:
        """Whether a producer that records a part of the accesses will not do."""
        return self.need_exact or self.need_all_accesses

    @property
    def need_all_accesses(self) -> bool:
        return any(option.all_accesses for option in self._given())

    def _given(self) -> list[SinkOption]:
        return [
            option
            for option in SINK_OPTIONS
            if self.sinks.get(option.name, option.default) != option.default
        ]


@dataclass(frozen=True)
class Recording:
    """A finished recording: how the program ended, and the parts, one for each process."""

    ending: Ending
    parts: tuple[Path, ...]
    seconds: float


@contextmanager
def workspace() -> Iterator[Path]:
    """A temporary folder for sockets."""
    with scratch_folder(MAX_TMPDIR_BYTES) as folder:
        yield folder


def gather_parts(folder: Path) -> list[Path]:
    """The parts that recorded processes have written, in the order in which they ended."""
    return sorted(folder.glob("part.*.json"), key=os.path.getmtime)


def machine_argument(text: str, folder: Path) -> str:
    """The recorder's argument for the machine; a description is written to the folder."""
    if not text:
        return "this"
    (folder / "machine").write_text(text)
    return str(folder / "machine")
