"""Which time of a run says how fast a program is on a machine that others use, too."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from halo.base.schema.trial import Trial
from halo.measure.racing.clock import only_computes, processor, wall


class Clock(StrEnum):
    """The time that is compared; `AUTO` is one of the others, by `chosen_clock`."""

    AUTO = "auto"
    WALL = "wall"
    PROCESSOR = "processor"


def seconds(trials: Sequence[Trial], clock: Clock) -> list[float]:
    """The times of trials by that clock."""
    return [processor(trial) if clock is Clock.PROCESSOR else wall(trial) for trial in trials]


def chosen_clock(asked: Clock, trials: Sequence[Trial]) -> Clock:
    """The clock for such trials: processor time if all of them only compute, in one thread."""
    if asked is not Clock.AUTO:
        return asked
    return Clock.PROCESSOR if trials and all(map(only_computes, trials)) else Clock.WALL
