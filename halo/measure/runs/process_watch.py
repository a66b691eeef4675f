"""Watches which executables use processor time while a program runs, to detect wrappers.

A thread samples /proc, often at first and ten times a second later; nothing is traced or preloaded.
"""

from __future__ import annotations

import os
import shlex
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType

from halo.base.errors import Unsuitable

FIRST_PAUSE, LAST_PAUSE = 0.001, 0.1  # seconds between two samples: short programs end soon
GROWTH = 1.05  # of the pause after each sample
MIN_SECONDS = 0.01  # minimum processor time in children for a judgement by shares
ENOUGH_SECONDS = 0.1
WRAPPER_SHARE = 0.8  # minimum share of other executables in the time of a wrapper
WORTH_SAYING = 0.3
MAX_COMMAND = 160  # characters of a command in a message
LOADER = "ld-linux"  # the dynamic loader's name begins with it
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Other:
    """Another executable than the program's: its processor time, and its first command line."""

    seconds: float = 0.0
    command: list[str] = field(default_factory=list)


@dataclass
class Seen:
    """Processor time by executable; `own` is in seconds; `became` is the process's final one."""

    own: float = 0.0
    others: dict[str, Other] = field(default_factory=dict)
    became: str = ""

    def slowed(self, factor: float, start: float) -> Seen:
        """The values for a run `factor` times as fast, without `start` seconds before it."""
        return replace(self, own=max(self.own - start, 0.0) / factor)

    @property
    def elsewhere(self) -> float:
        return sum(other.seconds for other in self.others.values())

    @property
    def share(self) -> float:
        """The share of the processor time in other executables, 0 to 1."""
        total = self.own + self.elsewhere
        return self.elsewhere / total if total else float(bool(self.became))

    @property
    def needs_more(self) -> bool:
        """Whether a program that executes others ran too short for a judgement."""
        return bool(self.others or not self.own) and self.own + self.elsewhere < ENOUGH_SECONDS

    @property
    def main_work(self) -> str:
        """The other executable with the most processor time; empty if there is none."""
        if self.became and self.elsewhere < MIN_SECONDS:
            return self.became
        return max(self.others, key=lambda path: self.others[path].seconds, default="")

    @property
    def is_wrapper(self) -> bool:
        """Whether the program only executes another, in its place or as a child."""
        if self.became:
            return self.elsewhere >= self.own
        return self.elsewhere >= MIN_SECONDS and self.share >= WRAPPER_SHARE


def refuse_wrapper(name: str, seen: Seen) -> None:
    """Raises `Unsuitable`, with the actual program, if `name` only executes another one."""
    if not seen.is_wrapper:
        return
    path = seen.main_work
    share = f", in which {seen.share:.0%} of the processor time was spent" if seen.elsewhere else ""
    does = "only executes another program" if seen.became else "leaves its work to another program"
    raise Unsuitable(
        f"{name} {does}, {path}{share}; give that one:"
        f" -- {_command(path, seen.others[path].command)}"
    )


def remark_others(name: str, seen: Seen) -> str:
    """A warning if a large part of the work is, or may be, in programs that `name` executes.

    A plan for `name` cannot serve them.
    """
    path = seen.main_work
    if seen.is_wrapper or not path:
        return ""
    if seen.elsewhere >= MIN_SECONDS and seen.share >= WORTH_SAYING:
        what = (
            f"{seen.share:.0%} of the processor time is spent in other programs that {name}"
            f" executes, most of it in {path}"
        )
    elif seen.needs_more:
        what = f"{name} executes {path}, and both are too short to tell which does the work"
    else:
        return ""
    other = _command(path, seen.others[path].command)
    return f"{what}: the results are about {name}; if the other is meant, give it: -- {other}"


def _command(path: str, command: list[str]) -> str:
    text = shlex.join([path, *command[1:]])
    return text if len(text) <= MAX_COMMAND else f"{shlex.quote(path)} ARGS"


class ProcessWatch:
    """Collects `seen` within its context; the program is a new child of process `parent`.

    A process is the program's own if it executes that file. With `mark` it is if a word of its
    command line contains that text, which distinguishes an engine from its native children.
    `helpers` are executables of halo's own, which do not count.
    """

    def __init__(
        self, parent: int, program: Path, mark: str = "", helpers: Sequence[Path] = ()
    ) -> None:
        self.seen = Seen()
        self._parent = parent
        self._program = program.stat()
        self._mark = mark
        self._helpers = {str(helper.resolve()) for helper in helpers}
        self._marked: set[int] = set()
        self._before: set[int] = set()
        self._times: dict[tuple[int, int], float] = {}
        self._ended = False
        self._pause = FIRST_PAUSE
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ProcessWatch:
        self._before = {root for root, _ in _descendants(self._parent)}
        # The thread inherits the mask, so that signals go to the main thread, which may wait.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._thread.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended = True
        self._wake.set()
        self._thread.join()

    def begin_run(self) -> None:
        """Samples as often as at first again, as another run begins."""
        self._pause = FIRST_PAUSE
        self._wake.set()

    def _watch(self) -> None:
        while True:
            self._wake.wait(self._pause)
            self._wake.clear()
            if self._ended:
                return
            self._pause = min(LAST_PAUSE, self._pause * GROWTH)
            for root, process in _descendants(self._parent):
                if root not in self._before:
                    self._inspect_trace(root, process)

    def _inspect_trace(self, root: int, process: _Process) -> None:
        link = f"/proc/{process.pid}/exe"
        try:
            path, file = os.readlink(link), os.stat(link)
            command = _command_line(process.pid)
            if os.readlink(link) != path:
                return  # it is just executing another one
        except OSError:
            return
        first = process.parent == self._parent
        if path in self._helpers or (first and command == _command_line(self._parent)):
            return  # or has not executed yet
        own = os.path.samestat(file, self._program)
        if not own and Path(path).name.startswith(LOADER):
            return  # halo asks it for the program's libraries
        if self._mark:
            own = any(self._mark in word for word in command)
            self._marked |= {root} if first and own else set()
            if root not in self._marked:
                return  # halo's own helper
        key = (process.pid, process.start)
        seconds = max(process.seconds, _precise_seconds(process.pid))
        more = max(0.0, seconds - self._times.get(key, 0.0))
        self._times[key] = max(seconds, self._times.get(key, 0.0))
        if first:
            self.seen.became = "" if own else path.removesuffix(" (deleted)")
        if own:
            self.seen.own += more
            return
        other = self.seen.others.setdefault(path.removesuffix(" (deleted)"), Other())
        other.seconds += more
        other.command = other.command or command  # a process that has just begun has none yet


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    start: int
    seconds: float


def _descendants(top: int) -> Iterator[tuple[int, _Process]]:
    """All descendants of `top`, parents first, each with its ancestor among top's children."""
    children: dict[int, list[_Process]] = {}
    for name in os.listdir("/proc"):
        process = _read_process(name) if name.isdigit() else None
        if process is not None:
            children.setdefault(process.parent, []).append(process)
    waiting = [(child.pid, child) for child in children.get(top, [])]
    while waiting:
        root, process = waiting.pop()
        yield root, process
        waiting += [(root, child) for child in children.get(process.pid, [])]


def _read_process(pid: str) -> _Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            fields = stream.read().rpartition(b") ")[2].split()
    except OSError:
        return None
    if len(fields) < 20:
        return None
    seconds = (int(fields[11]) + int(fields[12])) / _TICKS
    return _Process(int(pid), int(fields[1]), int(fields[19]), seconds)


def _precise_seconds(pid: int) -> float:
    """Processor seconds of the first thread, by the kernel's nanoseconds; 0 if unknown."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as stream:
            return int(stream.read().split()[0]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _command_line(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as stream:
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return []
    return text.removesuffix("\0").split("\0") if text else []
