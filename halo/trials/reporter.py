"""Reports the progress of a measurement on stderr: stages, and steps on a terminal."""

from __future__ import annotations

import sys
import time

from halo.console.terminal import is_live, make_console, show_prose
from halo.trials.runs.rounds import Step


class Reporter:
    """Writes stages always, and single steps only if stderr is a terminal."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._live = is_live(sys.stderr)
        self._start = time.monotonic()

    def stage(self, text: str) -> None:
        """Writes a line at the start of a stage."""
        seconds = time.monotonic() - self._start
        clear = "\r\x1b[K" if self._live else ""
        sys.stderr.write(f"{clear}halo: {self._name}: {text} ({seconds:.0f} s in)\n")
        sys.stderr.flush()

    def tell(self, text: str) -> None:
        """Writes a sentence immediately."""
        self.clear()
        show_prose(make_console(stderr=True), f"halo: {self._name}: {text}")

    def warn(self, text: str) -> None:
        """Writes a warning immediately."""
        self.tell(f"warning: {text}")

    def notice(self, step: Step) -> None:
        """Shows one step of a series of rounds."""
        if self._live:
            sys.stderr.write(f"\r\x1b[K  round {step.round + 1} of {step.rounds}: {step.label}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Removes the live line."""
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
