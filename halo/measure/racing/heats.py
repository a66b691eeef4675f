"""The heats of a race: which rounds are measured at once, and how many runs are expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from halo.measure.racing.sequential import FIRST_LOOK
from halo.measure.runs.rounds import Samples

HEATS = 3  # of the screen, which choose the finalists


@dataclass(frozen=True)
class Heat:
    """Rounds to measure, and the expected number of runs from here to the end of its stage.

    Heats are numbered from 0. Those of the final have cool-downs of trials with huge pages. Its
    first FIRST_LOOK rounds are a stage, and a heat each; each further stage is one heat.
    """

    number: int
    rounds: int
    runs: int

    @property
    def final(self) -> bool:
        return self.number >= HEATS

    @property
    def opens_final(self) -> bool:
        return self.number == HEATS

    @property
    def extends_final(self) -> bool:
        """Whether it is a stage after the first look, which did not decide."""
        return self.number >= HEATS + FIRST_LOOK


Measure: TypeAlias = Callable[[Sequence[str], Heat], Samples]
"""Measures these labels for the rounds of the heat."""
