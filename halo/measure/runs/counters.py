"""Reads the processor's event counters over the children of a process, if available.

Most virtual machines have none; then only the kernel's own counters are available. Events are
opened by perf_event_open(2) on the process that starts the trials; its children inherit them.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Mapping
from types import TracebackType
from typing import NamedTuple

SYSCALL = 298  # perf_event_open on x86-64
HARDWARE, SOFTWARE, CACHE = 0, 1, 3  # kinds of events
L1D, LAST_LEVEL, DATA_TLB = 0, 2, 3
LOAD_MISSES = 1 << 16  # operation 0, load; result 1, miss

# The counted events by perf's names. To count another event, add a line.
EVENTS: Mapping[str, tuple[int, int]] = {
    "cycles": (HARDWARE, 0),
    "instructions": (HARDWARE, 1),
    "L1-dcache-load-misses": (CACHE, L1D | LOAD_MISSES),
    "LLC-load-misses": (CACHE, LAST_LEVEL | LOAD_MISSES),
    "dTLB-load-misses": (CACHE, DATA_TLB | LOAD_MISSES),
    "page-faults": (SOFTWARE, 2),
}
_INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
_ENABLED_AND_RUNNING = 1 | 2  # each value includes the times enabled and running
_CLOSE_ON_EXEC = 8


class Reading(NamedTuple):
    """A counter's value; nanoseconds enabled, and running on the processor."""

    value: int
    enabled: int
    running: int


class Counters:
    """Counts events of a process's children in user mode."""

    def __init__(self, pid: int) -> None:
        opened = {name: _open(pid, *event) for name, event in EVENTS.items()}
        self._files = {name: file for name, file in opened.items() if file >= 0}

    def __enter__(self) -> Counters:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._files.values():
            os.close(file)
        self._files = {}

    def read(self) -> dict[str, Reading]:
        """All counters of this machine, including children that have ended."""
        return {
            name: Reading(*struct.unpack("QQQ", os.read(file, 24)))
            for name, file in self._files.items()
        }


def counted(before: Mapping[str, Reading], after: Mapping[str, Reading]) -> dict[str, int]:
    """The events between two readings.

    A multiplexed counter is scaled up; one that never ran is left out.
    """
    found = {}
    for name, last in after.items():
        first = before[name]
        enabled, running = last.enabled - first.enabled, last.running - first.running
        if running > 0:
            found[name] = round((last.value - first.value) * enabled / running)
    return found


def _open(pid: int, kind: int, config: int) -> int:
    """The event's file descriptor, or -1 if the event is missing or not permitted."""
    flags = _INHERIT | _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR
    size = struct.calcsize("IIQQQQQIIQ")
    attributes = struct.pack(
        "IIQQQQQIIQ", kind, size, config, 0, 0, _ENABLED_AND_RUNNING, flags, 0, 0, 0
    )
    try:
        library = ctypes.CDLL(None, use_errno=True)
        file: int = library.syscall(
            ctypes.c_long(SYSCALL), attributes, pid, -1, -1, ctypes.c_ulong(_CLOSE_ON_EXEC)
        )
    except (OSError, AttributeError):
        return -1
    return file
