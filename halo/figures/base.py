"""What a figure is: a name, the files it can be, the options it heeds, and how it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from halo.results.metrics import REFERENCE

IMAGES = ("pdf", "svg", "png")


@dataclass(frozen=True)
class Options:
    """What the user can set; empty or None where it was not given."""

    metric: str = ""
    contenders: tuple[str, ...] = ()
    baseline: str = ""
    on: str = REFERENCE
    min_weight: int | None = None
    top: int | None = None


class Figure(Protocol):
    """A figure: `heeds` names the options that mean something to it."""

    name: str
    summary: str

    @property
    def endings(self) -> Sequence[str]: ...

    @property
    def heeds(self) -> Sequence[str]: ...

    def make(self, paths: Sequence[Path], options: Options, ending: str) -> bytes:
        """The whole file, of the kind that `ending` names."""
