"""Holds a folder for one process, by a lock that the kernel drops however the process ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halo.base.errors import BadInput

_LOCKS = Path("/proc/locks")


def try_lock(folder: Path) -> int:
    """The descriptor that holds the folder, not a link; `BlockingIOError` if another does."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Makes the folder and holds it; `BadInput` if another process does.

    Some network file systems have no such locks: there the folder is used without one.
    """
    handle = _hold(Path(os.path.realpath(folder)))
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _hold(folder: Path) -> int | None:
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = try_lock(folder)
        except FileNotFoundError:
            continue
        except BlockingIOError:
            raise BadInput(
                f"{folder} is in use by {_holder(folder)}, which writes its results there; wait"
                " until that ends, or give another folder with --results."
            ) from None
        except OSError:
            return None
        # The process that held it before may have removed it.
        if _is_same(folder, handle):
            return handle
        os.close(handle)


def _is_same(folder: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(folder), os.fstat(handle))
    except FileNotFoundError:
        return False


def _holder(folder: Path) -> str:
    """The process, by the kernel's list of locks."""
    try:
        inode = str(os.stat(folder).st_ino)
        lines = [line.split() for line in _LOCKS.read_text().splitlines()]
    except OSError:
        return "another process"
    for line in lines:
        if line[1:2] == ["FLOCK"] and line[5].rpartition(":")[2] == inode:
            return f"process {line[4]}"
    return "another process"
