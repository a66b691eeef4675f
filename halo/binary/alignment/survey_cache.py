"""Stores surveys in the user's cache folder: that of libc alone takes a second.

A survey depends only on the module's content and name, and on the code that makes it, so the name
of its file is a digest of these. Without a folder of the user's own, nothing is stored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import msgspec

from halo.base.errors import BadInput
from halo.base.files.atomic import write_atomically
from halo.base.settings import cache_folder

MAX_FILES = 256  # the ones that were unused for longest are removed
_PACKAGES = ("alignment", "elf")

Stored = TypeVar("Stored")


def stored(path: Path, kind: type[Stored], compute: Callable[[], Stored]) -> Stored:
    """What `compute` returns for the module at `path`, or returned before.

    Raises `OSError` if the module cannot be read.
    """
    folder = _folder()
    if folder is None:
        return compute()
    file = folder / f"{_digest(path)}.json"
    try:
        found = msgspec.json.decode(file.read_bytes(), type=kind)
        os.utime(file)
        return found
    except (OSError, msgspec.DecodeError):
        found = compute()
    with contextlib.suppress(OSError, BadInput):
        _remove_oldest(folder)
        write_atomically(file, msgspec.json.encode(found))
    return found


def is_stored(path: Path) -> bool:
    """Whether the survey of the module at `path` is stored. Raises `OSError` as `stored`."""
    folder = _folder()
    return folder is not None and (folder / f"{_digest(path)}.json").is_file()


def _digest(path: Path) -> str:
    found = hashlib.sha256(f"{_code()} {path.name}".encode())
    found.update(path.read_bytes())
    return found.hexdigest()


@cache
def _code() -> str:
    """A digest of the code that makes surveys, and the state of its decoder's file."""
    root = Path(__file__).parent.parent
    sources = [file for name in _PACKAGES for file in sorted((root / name).rglob("*.py"))]
    found = hashlib.sha256(b"".join(file.read_bytes() for file in sources))
    # A packaged decoder has no metadata with its version.
    decoder = find_spec("iced_x86._iced_x86_py")
    assert decoder is not None and decoder.origin is not None
    state = os.stat(decoder.origin)
    return f"{found.hexdigest()} {state.st_size} {state.st_mtime_ns}"


def _folder() -> Path | None:
    """The folder of surveys; None if it cannot be written, or others could write to it."""
    base = cache_folder()
    if base is None:
        return None
    folder = base / "surveys"
    try:
        if not _is_private(_first_existing(folder)):
            return None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_private(folder) else None
    except OSError:
        return None


def _first_existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.exists())


def _is_private(folder: Path) -> bool:
    """Whether only this user may change it; under `sudo`, the caller's folder is another's."""
    found = folder.stat()
    writable = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not writable


def _remove_oldest(folder: Path) -> None:
    used = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
    for file in used[: max(0, len(used) + 1 - MAX_FILES)]:
        file.unlink(missing_ok=True)
