"""Reports the progress of a measurement on stderr: stages, and steps on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from halo.base.console.terminal import is_live, make_console, show_prose
from halo.measure.candidates import printed
from halo.measure.runs.rounds import RunProgress


class Reporter:
    """Writes stages always, and single steps only if stderr is a terminal.

    With `stages`, their number, each stage has its own number.
    """

    def __init__(
        self, name: str, stages: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = name
        self._stages = stages
        self._clock = clock
        self._live = is_live(sys.stderr)
        self._start = self._stage_start = clock()
        self._number = 0
        self._expected = 0.0  # seconds of the stage
        self._first: RunProgress | None = None  # of the stage

    @property
    def elapsed(self) -> float:
        """Seconds since the measurement began, or was continued."""
        return self._clock() - self._start

    def stage(self, text: str, seconds: float = 0.0, is_extra: bool = False) -> None:
        """Writes a line at the start of a stage.

        `seconds`: what it is expected to take; 0 if that is unknown. An extra stage is not among
        the numbered ones.
        """
        self.expect(seconds)
        number = ""
        if self._stages and not is_extra:
            self._number += 1
            number = f"[{self._number}/{self._stages}] "
        after = f"{self._stage_start - self._start:.0f} s in"
        about = f", about {duration(seconds)}" if seconds else ""
        self.tell(f"{number}{text} ({after}{about})")

    def expect(self, seconds: float) -> None:
        """`seconds`: what the whole stage would take at the pace of the runs from now on."""
        self._stage_start, self._expected, self._first = self._clock(), seconds, None

    def tell(self, text: str) -> None:
        """Writes a sentence immediately."""
        self.clear()
        show_prose(make_console(stderr=True), f"halo: {self._name}: {text}")

    def warn(self, text: str) -> None:
        """Writes a warning immediately."""
        self.tell(f"warning: {text}")

    def notice(self, step: RunProgress) -> None:
        """Shows one step of a stage, and the time that is left of it."""
        if not self._live:
            return
        left = self.seconds_left(step)
        about = f", about {duration(left)} left" if left else ""
        run = f"  run {step.done + 1}" + (f" of {step.total}" if step.total else "")
        text = f"{run}: {printed(step.label)}{about}"
        if len(text) >= make_console(stderr=True).width:  # a second line would stay
            text = f"{run}{about}"
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    def seconds_left(self, step: RunProgress) -> float:
        """Of the stage, by its pace so far; what was expected counts as one run; 0: unknown.

        Runs before the first step are of an interrupted measurement, and took no time now.
        """
        if step.left is not None:
            return step.left
        self._first = self._first or step
        taken, counted = self._clock() - self._stage_start, step.done - self._first.done
        if self._expected:
            taken, counted = taken + self._expected / self._first.total, counted + 1
        return taken / counted * (step.total - step.done) if counted else 0.0

    def clear(self) -> None:
        """Removes the live line."""
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def duration(seconds: float) -> str:
    """A short duration as one reads it, such as `8 s` or `3 min`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min"
