"""Reads the blocks that `halo-trace columns` writes (src/tracing/tool/column_blocks.h)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from halo.base.errors import HaloError
from halo.studies.tracing.analyses.column_blocks import (
    BLOCK_HEAD,
    BLOCK_KIND_ACCESSES,
    BLOCK_KIND_ALLOCATIONS,
    BLOCK_KIND_CALLS,
    BLOCK_KIND_END,
    BLOCK_KIND_FREES,
    BLOCK_KIND_MACHINE,
    BLOCK_KIND_METADATA,
    BLOCK_KIND_MODULE,
    STREAM_HEAD,
    STREAM_MAGIC,
    STREAM_VERSION,
)
from halo.studies.tracing.analyses.schema import TABLES

_JSON = {
    BLOCK_KIND_METADATA: "about",
    BLOCK_KIND_MACHINE: "machine",
    BLOCK_KIND_MODULE: "module",
    BLOCK_KIND_END: "end",
}
_TABLES = {
    BLOCK_KIND_ACCESSES: "accesses",
    BLOCK_KIND_CALLS: "calls",
    BLOCK_KIND_ALLOCATIONS: "allocations",
    BLOCK_KIND_FREES: "frees",
}
_PADDED = 8

Column = NDArray[Any]


@dataclass(frozen=True)
class Document:
    """A block of JSON: `about`, `machine`, `module` or `end`, which is the last one."""

    kind: str
    content: dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Rows of a table; columns are in the order of its schema and share the block's memory."""

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
    """Reads whole blocks from the unbuffered end of a pipe."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._begun = False

    def next(self) -> Document | Rows | None:
        """The next block; None if the stream ends, even within a block."""
        if not self._begun:
            head = self._read(STREAM_HEAD.size)
            if head is None:
                return None
            magic, version, _ = STREAM_HEAD.unpack(head)
            if magic != STREAM_MAGIC or version != STREAM_VERSION:
                raise HaloError("halo-trace is of another build than halo; run: make build")
            self._begun = True
        head = self._read(BLOCK_HEAD.size)
        if head is None:
            return None
        kind, rows, size = BLOCK_HEAD.unpack(head)
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
