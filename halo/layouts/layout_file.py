"""Reads the layout file of `halo-layout --layout` (src/layout/layout_format.h)."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from halo.errors import BadInput
from halo.layouts.binary_file import head_and_body
from halo.layouts.layout_format import LAYOUT_HEAD, LAYOUT_MAGIC, LAYOUT_VERSION

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
    (levels, objects, check), columns = head_and_body(
        path, LAYOUT_HEAD, LAYOUT_MAGIC, LAYOUT_VERSION, "layout file"
    )
    if len(columns) != (1 + levels) * objects * 4:
        raise BadInput(f"{path} is damaged: its size does not match its counts.")
    if zlib.crc32(columns, zlib.crc32(struct.pack("<II", levels, objects))) != check:
        raise BadInput(f"{path} is damaged: it has another checksum.")
    table = np.frombuffer(columns, "<u4").reshape(1 + levels, objects)
    return Layout(table[0], table[1:])
