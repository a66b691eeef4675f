"""Creates private temporary folders and removes them, including those of a killed halo."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from halo.base.errors import BadInput, RecordingFailed, TrialFailed
from halo.base.files.folder_lock import try_lock

PREFIX = "halo-work-"
YOUNG = 60.0  # seconds within which a new folder may not be locked yet
LITTLE = 64 << 10  # bytes of free space below which the output of a run may not have fit
FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def scratch_folder(max_parent: int | None = None) -> Iterator[Path]:
    """A private folder in TMPDIR, or in /tmp if TMPDIR is longer than `max_parent` bytes.

    It stays locked while it is in use. An unlocked one is of a halo that was killed, and the next
    halo removes it. A failure on a full disk is reported as a full disk.
    """
    parent = Path(tempfile.gettempdir())
    if max_parent is not None and len(os.fsencode(parent)) > max_parent:
        parent = Path("/tmp")
    _remove_abandoned(parent)
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    except OSError as error:
        if error.errno in FULL:
            raise BadInput(_is_full(parent)) from error
        raise
    lock = _lock(folder)
    try:
        if _space(folder) < LITTLE:
            raise BadInput(_is_full(parent))
        yield folder
    except (RecordingFailed, TrialFailed) as error:
        if _space(folder) < LITTLE:
            raise type(error)(_is_full(parent)) from error
        raise
    except OSError as error:
        if error.errno in FULL and _space(folder) < LITTLE:
            raise BadInput(_is_full(parent)) from error
        raise
    finally:
        _remove(folder)
        if lock is not None:
            os.close(lock)


def _is_full(parent: Path) -> str:
    return (
        f"The disk of {parent} is full, where halo keeps the output of a run until it ends; free"
        " space there, or set TMPDIR to a folder on another disk."
    )


def _space(folder: Path) -> int:
    try:
        found = os.statvfs(folder)
    except OSError:
        return LITTLE
    return found.f_bavail * found.f_frsize


def _lock(folder: Path) -> int | None:
    """The descriptor that holds the lock; None if the folder cannot be locked."""
    try:
        return try_lock(folder)
    except OSError:
        return None


def _remove_abandoned(parent: Path) -> None:
    """Removes this user's folders that are not locked."""
    with suppress(OSError):
        for folder in parent.glob(f"{PREFIX}*"):
            with suppress(OSError):
                if not _is_old(folder):
                    continue
                lock = _lock(folder)
                if lock is not None:
                    _remove(folder)
                    os.close(lock)


def _is_old(folder: Path) -> bool:
    found = folder.lstat()
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return ours and time.time() - found.st_mtime > YOUNG


def _remove(folder: Path) -> None:
    """Removes the folder in two attempts, as a process that still runs may add a file."""
    for _ in range(2):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
