"""Says on stderr what a measurement is doing: a line for each stage, a live one on a terminal."""

from __future__ import annotations

import sys
import time

from halo.terminal import is_live, make_console, show_prose
from halo.trials.rounds import Step


class Reporter:
    """Writes stages always, and single steps only where stderr is a terminal."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._live = is_live(sys.stderr)
        self._start = time.monotonic()

    def stage(self, text: str) -> None:
        """One line at the start of each stage."""
        seconds = time.monotonic() - self._start
        clear = "\r\x1b[K" if self._live else ""
        sys.stderr.write(f"{clear}halo: {self._name}: {text} ({seconds:.0f} s in)\n")
        sys.stderr.flush()

    def warn(self, text: str) -> None:
        """A sentence as soon as something is doubtful."""
        self.clear()
        show_prose(make_console(stderr=True), f"halo: {self._name}: warning: {text}")

    def notice(self, step: Step) -> None:
        """One step of a series of rounds."""
        if self._live:
            sys.stderr.write(f"\r\x1b[K  round {step.round + 1} of {step.rounds}: {step.label}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Removes the live line."""
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
