"""Measures how many processors other programs keep busy.

The load average of the last minute is unsuitable: a minute after other work has ended, a third of
it is left.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

STAT = Path("/proc/stat")
_IDLE = slice(3, 5)  # idle, and waiting for input or output
_COUNTED = slice(0, 8)  # the time of guests follows, which user and nice contain


@dataclass(frozen=True)
class LoadMeter:
    """A reading of the processors that this process may use, to compare later ones with.

    `busy`: seconds in which they have worked for anyone, or a hypervisor withheld them.
    `at`: seconds of the monotonic clock.
    """

    busy: float
    at: float

    @staticmethod
    def start() -> LoadMeter:
        return LoadMeter(_busy_seconds(), time.monotonic())

    def others(self, own: float) -> float:
        """The mean number of processors busy since the start, without `own` seconds of work.

        0 if that is not known: without /proc, or if the own work was done before the start.
        """
        elapsed = time.monotonic() - self.at
        busy = _busy_seconds() - self.busy
        return max(0.0, busy - own) / elapsed if elapsed > 0 else 0.0


def _busy_seconds() -> float:
    allowed = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    try:
        lines = [line.split() for line in STAT.read_text().splitlines()]
    except OSError:
        return 0.0
    times = [list(map(int, words[1:])) for words in lines if words and words[0] in allowed]
    ticks = sum(sum(each[_COUNTED]) - sum(each[_IDLE]) for each in times)
    return ticks / os.sysconf("SC_CLK_TCK")
