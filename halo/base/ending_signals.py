"""Raises one exception for all signals that end halo, so that it cleans up first."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN = 0.01  # seconds after which a signal whose exception was lost is raised again


class Ended(KeyboardInterrupt):
    """A signal that ends halo; handlers of KeyboardInterrupt handle it as well."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class EndingSignals:
    """A context in which the first of these signals raises `Ended`, and further ones are dropped.

    A second signal would interrupt the clean-up after the first one. The launchers of halo block
    the signals: they are kept while modules are imported, and while Python ends.
    """

    def __init__(self) -> None:
        self.received: Ended | None = None
        self._before: dict[int, Any] = {}
        self._mask: set[int] = set()
        self._hook: Any = None

    def __enter__(self) -> EndingSignals:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                # Signals that nohup or a shell's `&` ignores stay ignored.
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._raise)
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        sys.unraisablehook = self._hook
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def deliver(self) -> None:
        """Unblocks the signals; raises `Ended` if one has arrived."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        if self.received is None:
            self.received = Ended(number)
            raise self.received

    def _unraisable(self, lost: Any) -> None:
        """Raises again what Python drops, as destructors and callbacks of imports cannot fail."""
        if not isinstance(lost.exc_value, Ended):
            self._hook(lost)
            return
        self.received = None
        number, main = lost.exc_value.number, threading.main_thread().ident
        again = threading.Timer(AGAIN, signal.pthread_kill, (main, number))
        again.daemon = True
        again.start()
