"""Which clock compares trials: wall-clock time, or processor time where that is as good.

Other programs on the machine make a program wait for a processor. That adds to its wall-clock time,
but not to its processor time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from halo.base.schema.trial import Trial

Clock: TypeAlias = Callable[[Trial], float]
"""Seconds of a trial."""

NEARLY_ALL = 0.95  # of a time
MOST = 0.75  # of the trials


def wall(trial: Trial) -> float:
    return trial.wall


def processor(trial: Trial) -> float:
    """Without the runtime's report, which the wall-clock time does not contain either.

    The report may wait longer for a processor than a short program computes. Then it is unknown
    what the program computes, and the wall-clock time is the nearest to it that is known.
    """
    own = _own(trial)
    return own if own > 0 else trial.wall


def _own(trial: Trial) -> float:
    return trial.user + trial.system - _report(trial)


def _report(trial: Trial) -> float:
    return trial.runtime.get("report_seconds", 0.0)


def clock_name(clock: Clock) -> str:
    """The clock in a sentence, and in JSON."""
    return "processor time" if clock is processor else "wall-clock time"


def only_computes(trial: Trial) -> bool:
    """Whether the main thread did nearly all of the work, and waited for nothing but a processor.

    The wall-clock time of such a run is its processor time, if it has a processor to itself.
    """
    main = trial.main_processor - _report(trial)
    alone = main >= NEARLY_ALL * _own(trial) > 0
    return alone and main >= NEARLY_ALL * (trial.wall - trial.delayed)


def deciding_clock(trials: Iterable[Trial]) -> Clock:
    """Processor time if most trials only compute, in one thread, and all have such a time.

    The runtime's report may wait longer for a processor than a short program computes.
    """
    every = list(trials)
    is_known = bool(every) and all(_own(trial) > 0 for trial in every)
    return processor if is_known and sum(map(only_computes, every)) >= MOST * len(every) else wall
