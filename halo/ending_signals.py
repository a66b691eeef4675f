"""Turns the signals that end halo into one exception, so that everything is put in order first."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """A signal asks halo to end; what handles Ctrl-C handles this as well."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class EndingSignals:
    """While it lasts, the first of these signals raises `Ended`, and further ones are dropped.

    A second signal would interrupt the cleanup, and leave behind what the first one was to remove.
    """

    def __init__(self) -> None:
        self.received: Ended | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> EndingSignals:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                # What nohup, or a shell's `&`, has ignored stays ignored.
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._raise)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        if self.received is None:
            self.received = Ended(number)
            raise self.received
