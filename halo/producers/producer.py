"""What a producer is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from halo.recording import Limits, Recording
from halo.settings import Settings
from halo.target import Target


class Producer(Protocol):
    """Runs a program in the foreground, as if it were not there, and gathers parts."""

    name: str
    summary: str

    def record(
        self,
        settings: Settings,
        target: Target,
        arguments: Sequence[str],
        limits: Limits,
        folder: Path,
        tick: Callable[[], None],
    ) -> Recording:
        """The parts lie in `folder`, and its file `progress` may tell how far it is."""

    def nothing(self, target: Target) -> str:
        """Why a program may have left no part, and what to do: the end of a sentence."""
