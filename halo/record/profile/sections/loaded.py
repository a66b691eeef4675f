"""The modules that processes of the program had loaded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from halo.record.profile.checks import Checks
from halo.record.profile.model import Module, Profile
from halo.record.profile.sections.section import Part, Section

Modules = tuple[Module, ...]


class LoadedSection(Section[Modules]):
    """Absent if not recorded."""

    key = "loaded"
    refers_to_stacks = False
    needs_all = False

    def read(self, checks: Checks, contexts: int, frames: int) -> Modules:
        return checks.modules(self.key)

    def write(self, value: Modules) -> list[dict[str, Any]]:
        return [module._asdict() for module in value]

    def merge(self, parts: Sequence[Part], program: str) -> Modules | None:
        """The modules of all processes of the program, not of other programs that it started."""
        found = [self.of(part.profile) or () for part in parts_of(program, parts)]
        return tuple(sorted({module for modules in found for module in modules})) or None

    def repeated(self, value: Modules, times: int) -> Modules:
        return value


LOADED = LoadedSection()


def parts_of(program: str, parts: Sequence[Part]) -> list[Part]:
    """The parts of processes that had the program itself loaded."""
    path = os.path.realpath(program)
    return [
        part for part in parts if any(one.path == path for one in LOADED.of(part.profile) or ())
    ]


def process_modules(profile: Profile) -> Modules:
    """The modules that the program's processes had loaded, if the producer records them."""
    return LOADED.of(profile) or profile.modules
