"""Reads the layout file of `halo-layout --layout` (src/studies/layouts/layout_format.h)."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from halo.base.errors import BadInput
from halo.studies.layouts.layout_format import LAYOUT_HEAD, LAYOUT_MAGIC, LAYOUT_VERSION

Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Layout:
    """The accessed objects in the order of `hml-ordered`.

    `objects` has their allocation numbers, shape (objects). `communities` has those of each level,
    the finest first, shape (levels, objects).
    """

    objects: Numbers
    communities: Numbers


def read_layout(path: Path) -> Layout:
    """The layout in a file; `BadInput` if it is missing, damaged, newer or another file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) < LAYOUT_HEAD.size or not data.startswith(LAYOUT_MAGIC):
        raise BadInput(f"{path} is not a layout file of halo.")
    _, version, levels, objects, check = LAYOUT_HEAD.unpack_from(data)
    if version != LAYOUT_VERSION:
        raise BadInput(f"{path} has version {version}, which this halo cannot read.")
    columns = data[LAYOUT_HEAD.size :]
    if len(columns) != (1 + levels) * objects * 4:
        raise BadInput(f"{path} is damaged: its size does not match its counts.")
    if zlib.crc32(columns, zlib.crc32(struct.pack("<II", levels, objects))) != check:
        raise BadInput(f"{path} is damaged: it has another checksum.")
    table = np.frombuffer(columns, "<u4").reshape(1 + levels, objects)
    return Layout(table[0], table[1:])
