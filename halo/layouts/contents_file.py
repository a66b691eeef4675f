"""Reads the contents file of `halo-layout --contents` (src/layout/contents_format.h)."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from halo.errors import BadInput
from halo.layouts.binary_file import head_and_body
from halo.layouts.contents_format import (
    CONTENTS_HEAD,
    CONTENTS_MAGIC,
    CONTENTS_ROW,
    CONTENTS_VERSION,
    CONTENTS_WORDS,
)

Numbers = npt.NDArray[np.uint64]

_ROW = np.dtype(
    [
        ("number", "<u8"),
        ("address", "<u8"),
        ("size", "<u4"),
        ("context", "<u4"),
        ("count", "<u4"),
        ("unused", "<u4"),
        ("words", "<u8", CONTENTS_WORDS),
    ]
)
assert _ROW.itemsize == CONTENTS_ROW.size


@dataclass(frozen=True)
class Contents:
    """The contents of objects soon after their allocation, in the order in which they were read.

    All arrays have an entry for each object: its allocation number, recorded address, size in
    bytes, allocation context, and the number of its words that were read. `words` has these words,
    shape (objects, CONTENTS_WORDS). Words and bytes behind them are 0.
    """

    numbers: Numbers
    addresses: Numbers
    sizes: npt.NDArray[np.uint32]
    contexts: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint32]
    words: Numbers


def read_contents(path: Path) -> Contents:
    """The contents in a file; `BadInput` if it is missing, damaged, newer or another file."""
    (check, rows), body = head_and_body(
        path, CONTENTS_HEAD, CONTENTS_MAGIC, CONTENTS_VERSION, "contents file"
    )
    if len(body) != rows * CONTENTS_ROW.size:
        raise BadInput(f"{path} is damaged: its size does not match its number of objects.")
    if zlib.crc32(rows.to_bytes(8, "little"), zlib.crc32(body)) != check:
        raise BadInput(f"{path} is damaged: it has another checksum.")
    table = np.frombuffer(body, _ROW)
    return Contents(
        numbers=table["number"],
        addresses=table["address"],
        sizes=table["size"],
        contexts=table["context"],
        counts=table["count"],
        words=table["words"],
    )
