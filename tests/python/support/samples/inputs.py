"""Recordings of one program on several inputs and machines, as profiles."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from halo.plan.merging.inputs import Input
from halo.record.profile import Module
from halo.record.profile.reader import parse_profile
from support.samples.plan import Sample, Site

PROGRAM = Module("/usr/bin/program", "aa" * 20)
LIBC = Module("/usr/lib/libc.so.6", "bb" * 20)
OTHER_LIBC = Module("/lib64/libc.so.6", "cc" * 20)
START: tuple[Site, ...] = ((1, 9), (1, 8), (0, 7))
"""The outer frames of a stack: two of the C library before main, and `_start`."""


class Recorded(Sample):
    """A recording of a program that is linked with a C library."""

    def __init__(self, modules: Sequence[Module] = (PROGRAM, LIBC)) -> None:
        super().__init__(modules)

    def called(
        self, stack: Iterable[int | Site], accesses: int = 100, allocations: int = 10
    ) -> int:
        """Adds a context below main."""
        return self.add([*stack, *START], accesses, allocations)

    def written(self, *args: str, **sections: Any) -> dict[str, Any]:
        """The document, with the program's path, the arguments and sections."""
        program = {"path": self.modules[0].path, "args": list(args)}
        return {**self.document(), "program": program, **sections}

    def input(self, name: str = "a.profile", weight: float = 1.0, **sections: Any) -> Input:
        return Input(Path(name), parse_profile(self.written(name, **sections), name), weight)

    def save(self, path: Path, *args: str, **sections: Any) -> Path:
        path.write_text(json.dumps(self.written(*(args or (path.name,)), **sections)))
        return path


def red(modules: Sequence[Module] = (PROGRAM, LIBC)) -> Recorded:
    """Two contexts of an input that are used together, and one that every input has."""
    return of_input(16, modules)


def blue(modules: Sequence[Module] = (PROGRAM, LIBC)) -> Recorded:
    """As `red`, with other contexts."""
    return of_input(64, modules)


def of_input(site: int, modules: Sequence[Module] = (PROGRAM, LIBC)) -> Recorded:
    found = Recorded(modules)
    one = found.called([site, 3], accesses=400)
    other = found.called([site + 8, 3], accesses=400)
    common = found.called([48, 3], accesses=200)
    found.edge(one, other, 300)
    found.edge(one, one, 40)
    found.edge(other, other, 40)
    found.edge(common, common, 20)
    return found
