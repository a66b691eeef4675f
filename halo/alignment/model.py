"""What is proved of the alignment that a process's code demands, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Relaxation(NamedTuple):
    """One byte of code whose change makes an aligned vector move an unaligned one.

    `offset`: the byte's ELF virtual address; `before`, `after`: its values.
    """

    offset: int
    before: int
    after: int


class CheckedModule(NamedTuple):
    """A module, by build-id, whose code serves objects at any multiple of eight once relaxed."""

    build_id: str
    relaxations: tuple[Relaxation, ...]
    path: str = ""


@dataclass(frozen=True)
class Proof:
    """The modules that were checked, and what stands against steps of eight bytes.

    `obstacle` is one clause for the user, empty where there is none; with one, `modules` is empty
    and objects are aligned to 16 bytes.
    """

    modules: tuple[CheckedModule, ...] = ()
    obstacle: str = ""

    @property
    def relaxations(self) -> int:
        """Instructions that the runtime rewrites at the start."""
        return sum(len(module.relaxations) for module in self.modules)


def unproved(obstacle: str) -> Proof:
    """Nothing is proved, for that reason."""
    return Proof(obstacle=obstacle)
