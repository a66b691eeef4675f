"""Detects that a service is ready; what is there before its start does not count."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from halo.measure.services.processes import is_listening
from halo.measure.services.service import FILE, LINE, TCP, Ready

CONNECTING = 0.2  # seconds

Test = Callable[[int], bool]
"""Whether the service with that pid is ready."""


class PortTaken(Exception):
    """Another process listens at the port already."""


def test_of(ready: Ready, outputs: Sequence[Path]) -> Test:
    """The test for that sign, to be made before the service starts.

    `outputs` are the files of its standard output and error. Raises `PortTaken`.
    """
    if ready.kind == TCP:
        return _port_test(int(ready.value))
    if ready.kind == FILE:
        return _file_test(Path(ready.value))
    if ready.kind == LINE:
        return _line_test(re.compile(ready.value.encode()), outputs)
    return is_listening


def _port_test(port: int) -> Test:
    if _accepts(port):
        raise PortTaken
    return lambda pid: _accepts(port)


def _accepts(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), CONNECTING):
            return True
    except OSError:
        return False


def _file_test(path: Path) -> Test:
    """An old file counts when it has been replaced or written to."""
    before = _identity(path)
    return lambda pid: _identity(path) not in (None, before)


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns


def _line_test(pattern: re.Pattern[bytes], outputs: Sequence[Path]) -> Test:
    """Reads only what is new: a service may write much before it is ready."""
    places = dict.fromkeys(outputs, 0)

    def test(pid: int) -> bool:
        for path, place in places.items():
            if not path.exists():
                continue
            with path.open("rb") as stream:
                stream.seek(place)
                text = stream.read()
            if any(pattern.search(line) for line in text.split(b"\n")):
                return True
            places[path] = place + text.rfind(b"\n") + 1
        return False

    return test
