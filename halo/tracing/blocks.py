"""The blocks that `halo-trace columns` writes (src/record/llvm/column_blocks.h)."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from halo.analyses.schema import TABLES
from halo.errors import HaloError

MAGIC = b"HALOCOL\n"
VERSION = 1
_STREAM_HEAD = struct.Struct("<8sII")
_BLOCK_HEAD = struct.Struct("<IIQ")
_JSON = {1: "about", 2: "machine", 3: "module", 8: "end"}
_TABLES = {4: "accesses", 5: "calls", 6: "allocations", 7: "frees"}
_PADDED = 8

Column = NDArray[Any]


@dataclass(frozen=True)
class Document:
    """A block of JSON: `about`, `machine`, `module` or `end`, which is the last one."""

    kind: str
    content: dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Rows of a table; the columns are in the order of its schema and share the block's memory."""

    table: str
    count: int
    columns: Mapping[str, Column]


def _wire_types(table: str) -> dict[str, np.dtype[Any]]:
    types = {}
    for field in TABLES[table]:
        boolean = str(field.type) == "bool"
        types[field.name] = np.dtype(np.int8) if boolean else np.dtype(field.type.to_pandas_dtype())
    return types


_WIRE = {table: _wire_types(table) for table in _TABLES.values()}


class BlockReader:
    """Reads blocks, each as a whole, from the unbuffered end of a pipe."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._begun = False

    def next(self) -> Document | Rows | None:
        """The next block; None where the stream ends, even within a block."""
        if not self._begun:
            head = self._read(_STREAM_HEAD.size)
            if head is None:
                return None
            magic, version, _ = _STREAM_HEAD.unpack(head)
            if magic != MAGIC or version != VERSION:
                raise HaloError("halo-trace is of another build than halo; run: make build")
            self._begun = True
        head = self._read(_BLOCK_HEAD.size)
        if head is None:
            return None
        kind, rows, size = _BLOCK_HEAD.unpack(head)
        payload = self._read(size)
        if payload is None:
            return None
        if kind in _JSON:
            return Document(_JSON[kind], json.loads(payload))
        return _rows(_TABLES[kind], rows, payload)

    def _read(self, size: int) -> bytearray | None:
        buffer = bytearray(size)
        view = memoryview(buffer)
        done = 0
        while done < size:
            got = os.readv(self._source.fileno(), [view[done:]])
            if not got:
                return None
            done += got
        return buffer


def _rows(table: str, count: int, payload: bytearray) -> Rows:
    columns, at = {}, 0
    for name, kind in _WIRE[table].items():
        columns[name] = np.frombuffer(payload, kind, count, at)
        at += -(-count * kind.itemsize // _PADDED) * _PADDED
    return Rows(table, count, columns)
