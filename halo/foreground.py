"""Runs a child in the foreground as if we were not there: its streams, its signals, its status."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

FORWARDED = frozenset(
    {
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGQUIT,
        signal.SIGUSR1,
        signal.SIGUSR2,
        signal.SIGALRM,
        signal.SIGCONT,
        signal.SIGWINCH,
    }
)
# Python ignores these, and a child would inherit that.
RESTORED = (signal.SIGPIPE, signal.SIGXFSZ)
SI_KERNEL = 128  # si_code of a signal that the terminal sends to its whole foreground group


@dataclass(frozen=True)
class Ending:
    """How a child ended: an exit status, or the signal that killed it; `pid` where it is known."""

    exit_status: int
    signal: int
    pid: int = field(default=0, compare=False)

    @staticmethod
    def from_wait(status: int, pid: int = 0) -> Ending:
        code = os.waitstatus_to_exitcode(status)
        return Ending(code, 0, pid) if code >= 0 else Ending(128 - code, -code, pid)


def run_in_foreground(
    program: str,
    arguments: list[str],
    environment: Mapping[str, str],
    tick: Callable[[], None],
    period: float = 0.25,
) -> Ending:
    """Starts the program on our own streams, hands it our signals, calls `tick` now and then."""
    watched = FORWARDED | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        child = os.posix_spawn(
            program, arguments, environment, setsigmask=before, setsigdef=RESTORED
        )
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return Ending.from_wait(status, child)
            arrived = signal.sigtimedwait(watched, period)
            if arrived is None:
                tick()
            elif arrived.si_signo in FORWARDED and arrived.si_code != SI_KERNEL:
                os.kill(child, arrived.si_signo)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def become(program: str, arguments: list[str], environment: Mapping[str, str]) -> NoReturn:
    """Replaces this process by the program, with the signals as Python found them."""
    for number in RESTORED:
        signal.signal(number, signal.SIG_DFL)
    os.execve(program, arguments, environment)


def end_like(ending: Ending) -> int:
    """The exit status to pass through; does not return where the child was killed by a signal."""
    if ending.signal:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if ending.signal not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(ending.signal, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {ending.signal})
        os.kill(os.getpid(), ending.signal)
    return ending.exit_status
