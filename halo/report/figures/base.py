"""The interface of figures: a name, file endings, accepted options, and a method that draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from halo.report.results.metrics import REFERENCE

IMAGES = ("pdf", "svg", "png")


@dataclass(frozen=True)
class FigureOptions:
    """The user's options; empty or None if not given."""

    metric: str = ""
    configs: tuple[str, ...] = ()
    baseline: str = ""
    on: str = REFERENCE
    min_weight: int | None = None
    top: int | None = None
    trimmed: bool = False


class Figure(Protocol):
    """A figure or table; `accepts` names the options that it uses."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def endings(self) -> Sequence[str]: ...

    @property
    def accepts(self) -> Sequence[str]: ...

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        """The content of the file, in the format of `ending`; `BadInput` if `paths` do not fit."""
