"""Which clock decides a race: wall-clock time, or processor time where that is as good.

Other programs on the machine make a program wait for a processor. That adds to its wall-clock time,
but not to its processor time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median
from typing import TypeAlias

from halo.schema.trial import Trial

Clock: TypeAlias = Callable[[Trial], float]
"""Seconds of a trial."""

SEVERAL = 1.02  # processor seconds for a wall-clock second, of a program that runs in parallel
WAITS = 50  # for a processor second, of a program that waits for others than the processor


def wall(trial: Trial) -> float:
    return trial.wall


def processor(trial: Trial) -> float:
    return trial.user + trial.system


def deciding_clock(trials: Iterable[Trial]) -> Clock:
    """Processor time if in most trials the program has one thread and hardly waits by itself.

    It waits by itself for input, a lock or another process, and gives up the processor to do so.
    """
    known = list(trials)
    shares = [processor(trial) / trial.wall for trial in known]
    waits = [
        trial.waits / processor(trial)
        for trial in known
        if trial.waits is not None and processor(trial) > 0
    ]
    alone = bool(waits) and median(waits) <= WAITS and max(shares) <= SEVERAL
    return processor if alone else wall
