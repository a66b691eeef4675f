"""How much a measurement tries, how long it may take, and how many runs of the program that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

RECORDING = 0.3  # share of the time that a recording may take
RACE = 0.35  # share of the time for the race
ANSWER = 0.35  # share of the time for the answer, at least


@dataclass(frozen=True)
class Effort:
    """A measurement takes about `seconds`, or as long as that many `runs` of the program.

    Without `records`, only plans that need no recording are tried. With `traces`, all accesses
    are recorded, for the deep analyses (`halo/measure/deep/analysis.py`) that could matter.
    """

    seconds: float
    runs: int
    records: bool = True
    traces: bool = False


# To add an effort, add a line.
EFFORTS: Mapping[str, Effort] = {
    "quick": Effort(60, 15, records=False),
    "normal": Effort(180, 40),
    "thorough": Effort(600, 120, traces=True),
}
NORMAL = "normal"


@dataclass(frozen=True)
class Budget:
    """`native`: the seconds of a run without halo, on the measured input."""

    native: float
    effort: Effort = EFFORTS[NORMAL]

    @property
    def seconds(self) -> float:
        return max(self.effort.seconds, self.effort.runs * self.native)

    @property
    def recording(self) -> float:
        """Seconds after which a recording is ended, with what it has seen."""
        return RECORDING * self.seconds

    def race_runs(self, seconds: float) -> int:
        """The number of runs of that length in the race."""
        return int(RACE * self.seconds / max(seconds, 0.01))

    def answer(self, elapsed: float) -> float:
        """Seconds for the answer, which begins after that time."""
        return max(ANSWER * self.seconds, self.seconds - elapsed)
