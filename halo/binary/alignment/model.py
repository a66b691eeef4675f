"""The result of an alignment proof, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol


class RecordedModule(Protocol):
    """A file with code that a process executed; the build-id is hex, or empty if unknown."""

    @property
    def path(self) -> str: ...

    @property
    def build_id(self) -> str: ...


class Relaxation(NamedTuple):
    """One byte of code whose change makes an aligned vector move an unaligned one.

    `offset`: the byte's ELF virtual address; `before`, `after`: its values.
    """

    offset: int
    before: int
    after: int


class CheckedModule(NamedTuple):
    """A module, by build-id, whose code accepts objects at any multiple of eight once relaxed.

    `code` is the digest of its code; 0: unknown.
    """

    build_id: str
    relaxations: tuple[Relaxation, ...]
    path: str = ""
    code: int = 0


@dataclass(frozen=True)
class Proof:
    """The checked modules, or the obstacle to an alignment of eight bytes.

    `obstacle` is one clause for the user, empty if there is none. If there is one, `modules` is
    empty and objects are aligned to 16 bytes.
    """

    modules: tuple[CheckedModule, ...] = ()
    obstacle: str = ""

    @property
    def relaxations(self) -> int:
        """The number of instructions that the runtime rewrites at the start."""
        return sum(len(module.relaxations) for module in self.modules)


def unproved(obstacle: str) -> Proof:
    """A proof of nothing, with the reason."""
    return Proof(obstacle=obstacle)
