"""Where an output goes: into a file that replaces another, or through what is no regular file."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from halo.errors import BadInput

_MOST_LINKS = 40  # as many as Linux follows
_PROCESSES = "/proc/"


def file_behind(path: Path) -> Path | None:
    """The regular file that an output of this name makes or replaces, behind symbolic links.

    None where a device, a pipe or a descriptor (`/dev/stdout`) is there: that is not to be
    replaced but written through. Raises `OSError` where nobody can tell.
    """
    place = path.absolute()
    for _ in range(_MOST_LINKS):
        folder = os.path.realpath(place.parent)
        if f"{folder}/".startswith(_PROCESSES):
            return None
        if not place.is_symlink():
            return place if place.is_file() or not place.exists() else None
        place = Path(folder) / os.readlink(place)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def write_through(path: Path, content: bytes) -> None:
    """Writes into what is there already, which keeps its kind."""
    with os.fdopen(_open(path), "wb") as stream:
        stream.write(content)


def _open(path: Path) -> int:
    """A copy of a descriptor of our own: it keeps its place in the file, and may be a socket."""
    while path.is_symlink():
        folder = os.path.realpath(path.parent)
        if folder == f"{_PROCESSES}{os.getpid()}/fd":
            return os.dup(int(path.name))
        path = Path(folder) / os.readlink(path)
    return os.open(path, os.O_WRONLY | os.O_NOCTTY)


def check_place(path: Path) -> None:
    """BadInput unless a file can be written there."""
    if path.is_dir():
        raise BadInput(f"{path} is a directory; give the name of the file to write.")
    if not path.absolute().parent.is_dir():
        raise BadInput(f"The directory {path.absolute().parent} does not exist; make it first.")
