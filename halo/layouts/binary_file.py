"""What the binary files of `halo-layout` have in common: a head with a magic word and a version."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from halo.errors import BadInput


def head_and_body(
    path: Path, head: struct.Struct, magic: bytes, version: int, kind: str
) -> tuple[tuple[Any, ...], bytes]:
    """The head's fields behind the version, and the bytes behind the head.

    `kind` is what the file should be, in two words. `BadInput` if it is missing, newer or another
    file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) < head.size or not data.startswith(magic):
        raise BadInput(f"{path} is not a {kind} of halo.")
    _, found, *fields = head.unpack_from(data)
    if found != version:
        raise BadInput(f"{path} has version {found}, which this halo cannot read.")
    return tuple(fields), data[head.size :]
