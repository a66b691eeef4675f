"""Writes files atomically: a reader sees the old file or the whole new one."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import to_builtins

from halo.base.errors import BadInput
from halo.base.files.destination import file_behind, write_through
from halo.base.files.standard_output import STANDARD_OUTPUT, write_standard_output


def write_atomically(path: str | Path, content: bytes) -> None:
    """Writes through a temporary file next to `path`, synced and then renamed over it.

    A symbolic link stays, and its target is replaced; a device or a pipe is written through.
    Raises `BadInput` if that fails.
    """
    path = Path(path)
    try:
        file = file_behind(path)
        if file is None:
            write_through(path, BytesIO(content))
        else:
            _replace(file, BytesIO(content))
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}.") from error


def move_file(source: Path, path: Path) -> None:
    """Moves a file of ours, of any size, to its place, also on another file system.

    As `write_atomically`: there is the old file or the whole new one.
    """
    copy_file(source, path)
    source.unlink()


def copy_file(source: Path, path: Path) -> None:
    """As `move_file`, but `source` stays."""
    try:
        file = file_behind(path)
        with source.open("rb") as content:
            if file is None:
                write_through(path, content)
            else:
                _replace(file, content)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}.") from error


def _replace(path: Path, content: BinaryIO) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            shutil.copyfileobj(content, file)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_json(value: Any, path: Path) -> None:
    """Writes indented JSON atomically, and creates its folder; `-` is standard output."""
    content = (json.dumps(value, indent=2, default=to_builtins) + "\n").encode()
    if path == STANDARD_OUTPUT:
        write_standard_output(content)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}.") from error
    write_atomically(path, content)
