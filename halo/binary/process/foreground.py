"""Runs a child in the foreground transparently: streams, signals and status pass through."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from halo.base.ending_signals import ENDING, Ended
from halo.base.errors import CannotRun

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
# Python ignores these signals, and a child would inherit that.
RESTORED = (signal.SIGPIPE, signal.SIGXFSZ)
PR_SET_PDEATHSIG = 1
SI_KERNEL = 128  # si_code of a signal that the terminal sends to its whole foreground group


@dataclass(frozen=True)
class Ending:
    """The end of a child: an exit status, or the signal that killed it; `pid` if it is known."""

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
    """Runs the program on our streams, forwards our signals, calls `tick` at intervals."""
    watched = FORWARDED | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        child = _start(program, arguments, environment, before)
        while True:
            done, status = os.waitpid(child.pid, os.WNOHANG)
            if done:
                child.returncode = os.waitstatus_to_exitcode(status)
                return Ending.from_wait(status, child.pid)
            try:
                arrived = signal.sigtimedwait(watched, period)
                if arrived is None:
                    tick()
                elif arrived.si_signo in FORWARDED and arrived.si_code != SI_KERNEL:
                    os.kill(child.pid, arrived.si_signo)
            except Ended as ended:  # delivered to a thread that does not block it
                os.kill(child.pid, ended.number)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(
    program: str,
    arguments: list[str],
    environment: Mapping[str, str],
    mask: set[int | signal.Signals],
) -> subprocess.Popen[bytes]:
    """Starts a child that the kernel kills if this thread ends first, even by SIGKILL."""
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def prepare() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
        for number in ENDING:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    return subprocess.Popen(
        arguments,
        executable=program,
        env=environment,
        close_fds=False,
        restore_signals=True,
        preexec_fn=prepare,
    )


def become(program: str, arguments: list[str], environment: Mapping[str, str]) -> NoReturn:
    """Replaces this process by the program, with the signal actions from before Python."""
    for number in RESTORED:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(program, arguments, environment)
    except OSError as error:
        raise CannotRun(f"{program} cannot be started: {error.strerror}.") from error


def end_like(ending: Ending) -> int:
    """The exit status to pass through; does not return if a signal killed the child."""
    if ending.signal:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if ending.signal not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(ending.signal, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {ending.signal})
        os.kill(os.getpid(), ending.signal)
    return ending.exit_status
