"""The processes of a service: which they are, their processor time, and where they listen."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

_TICKS = os.sysconf("SC_CLK_TCK")
_LISTENING_TCP = "0A"  # st of /proc/net/tcp
_ACCEPTS = 0x10000  # flag of /proc/net/unix: __SO_ACCEPTCON
_SOCKET = re.compile(r"socket:\[(\d+)\]")


@dataclass(frozen=True)
class Usage:
    """Processor seconds, precise, and the kernel's coarser seconds by mode."""

    total: float
    user: float
    system: float

    def since(self, before: Usage) -> tuple[float, float]:
        """Seconds of user and of system time from `before` to now."""
        user, system = max(self.user - before.user, 0.0), max(self.system - before.system, 0.0)
        total = max(self.total - before.total, 0.0)
        share = user / (user + system) if user + system else 1.0
        return share * total, (1 - share) * total


def usage_of(pid: int) -> Usage:
    """The processor time of a process, its session and descendants, ended children included."""
    total = user = system = 0.0
    for process, fields in _family(pid):
        own, kernel, ended, ended_kernel = (int(field) / _TICKS for field in fields[11:15])
        user, system = user + own + ended, system + kernel + ended_kernel
        total += ended + ended_kernel + _precise(process, own + kernel)
    return Usage(total, user, system)


def has_ended(pid: int) -> bool:
    """Whether the process is a zombie, or gone."""
    fields = _fields(pid)
    return not fields or fields[0] in b"ZX"


def is_listening(pid: int) -> bool:
    """Whether the process or a descendant accepts connections, by TCP or at a Unix socket."""
    sockets = {number for process, _ in _family(pid) for number in _sockets(process)}
    return bool(sockets) and not sockets.isdisjoint(_accepting(pid))


def handles(pid: int, number: int) -> bool:
    """Whether the process has a handler for the signal."""
    with suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def _family(pid: int) -> Iterator[tuple[int, list[bytes]]]:
    """The process, its session and its descendants, with the fields of stat from the state on."""
    found = {int(name): _fields(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    children: dict[int, list[int]] = {}
    for process, fields in found.items():
        if fields:
            children.setdefault(int(fields[1]), []).append(process)
    waiting = [it for it, fields in found.items() if fields and pid in (it, int(fields[3]))]
    seen: set[int] = set()
    while waiting:
        process = waiting.pop()
        if process not in seen:
            seen.add(process)
            waiting += children.get(process, [])
            yield process, found[process]


def _fields(pid: int) -> list[bytes]:
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b") ")[2].split()
    return []


def _precise(pid: int, otherwise: float) -> float:
    """Seconds by the process's own clock, whose id is made of its pid (clock_getcpuclockid)."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return otherwise


def _sockets(pid: int) -> Iterator[str]:
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                if found := _SOCKET.fullmatch(os.readlink(f"{folder}/{name}")):
                    yield found[1]


def _accepting(pid: int) -> Iterator[str]:
    """The inodes of all accepting sockets in the process's network namespace."""
    for name in ("tcp", "tcp6"):
        for fields in _table(pid, name):
            if len(fields) > 9 and fields[3] == _LISTENING_TCP:
                yield fields[9]
    for fields in _table(pid, "unix"):
        if len(fields) > 6 and int(fields[3], 16) & _ACCEPTS:
            yield fields[6]


def _table(pid: int, name: str) -> Iterator[list[str]]:
    with suppress(OSError), open(f"/proc/{pid}/net/{name}", errors="replace") as file:
        next(file, None)
        yield from (line.split() for line in file)
