"""Raises one exception for all signals that end halo, so that it cleans up first."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """A signal that ends halo; handlers of KeyboardInterrupt handle it as well."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class EndingSignals:
    """A context in which the first of these signals raises `Ended`, and further ones are dropped.

    A second signal would interrupt the clean-up after the first one.
    """

    def __init__(self) -> None:
        self.received: Ended | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> EndingSignals:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                # Signals that nohup or a shell's `&` ignores stay ignored.
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
