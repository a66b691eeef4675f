"""Finds the destination of an output: a file to replace, or a device or pipe to write to."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import BinaryIO

from halo.base.errors import BadInput
from halo.base.files.standard_output import STANDARD_OUTPUT

_MAX_LINKS = 40  # Linux' own maximum
_PROCESSES = "/proc/"


def file_behind(path: Path) -> Path | None:
    """The regular file that an output of this name creates or replaces, behind symbolic links.

    None if the name is of a device, a pipe or a descriptor (`/dev/stdout`), which must be written
    through instead. Raises `OSError` if the path cannot be examined.
    """
    place = path.absolute()
    for _ in range(_MAX_LINKS):
        folder = os.path.realpath(place.parent)
        if f"{folder}/".startswith(_PROCESSES):
            return None
        if not place.is_symlink():
            return place if place.is_file() or not place.exists() else None
        place = Path(folder) / os.readlink(place)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def write_through(path: Path, content: BinaryIO) -> None:
    """Writes into the existing device, pipe or descriptor."""
    with os.fdopen(_open(path), "wb") as stream:
        shutil.copyfileobj(content, stream)


def _open(path: Path) -> int:
    """Opens the path; copies one of our own descriptors, which keeps its file position."""
    while path.is_symlink():
        folder = os.path.realpath(path.parent)
        if folder == f"{_PROCESSES}{os.getpid()}/fd":
            return os.dup(int(path.name))
        path = Path(folder) / os.readlink(path)
    return os.open(path, os.O_WRONLY | os.O_NOCTTY)


def check_place(path: Path) -> None:
    """Raises `BadInput` unless a file can be written there; `-` is standard output."""
    if path == STANDARD_OUTPUT:
        return
    if os.path.isdir(path):
        raise BadInput(f"{path} is a directory; give the name of the file to write.")
    try:
        file = file_behind(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}.") from error
    folder = path.absolute().parent if file is None else file.parent
    if not os.path.isdir(folder):
        raise BadInput(f"The directory {folder} does not exist; make it first.")
    # A file is replaced by a new one beside it.
    if file is not None and not os.access(folder, os.W_OK | os.X_OK):
        raise BadInput(f"The directory {folder} is not writable; choose another place.")
