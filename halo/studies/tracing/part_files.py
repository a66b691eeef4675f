"""Writes the Parquet files of a table, each atomically."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from halo.base.errors import BadInput
from halo.studies.tracing.analyses.schema import TABLES
from halo.studies.tracing.blocks import Column

ROWS_PER_FILE = 2_000_000
# Small enough for an engine to read a file on several cores.
ROWS_PER_GROUP = 500_000
# The values of these columns grow slowly from row to row.
_DELTA = {"seq"}
_DICTIONARY = {
    *("thread", "site", "bytes", "missed", "tlb_missed", "object_offset"),
    *("element_bytes", "elements", "entry"),
}
# The columns of all analyses decompress fast; the others are compressed well.
_QUICK = {"thread", "site", "address", "bytes", "missed", "tlb_missed"}


class PartFiles:
    """Buffers rows of one table for files, which another thread writes."""

    def __init__(self, folder: Path, table: str, writer: ThreadPoolExecutor) -> None:
        self._folder = folder / table
        self._schema = TABLES[table]
        self._writer = writer
        self._waiting: list[list[Column]] = []
        self._written: list[Future[None]] = []
        self.rows = 0  # not yet in a file
        self.files = 0
        make_folder(self._folder)

    def add(self, columns: Mapping[str, Column], count: int) -> None:
        """Adds rows; writes a file if there are enough."""
        self._waiting.append(list(columns.values()))
        self.rows += count
        if self.rows >= ROWS_PER_FILE:
            self.flush()

    def flush(self) -> None:
        """Writes a file of all buffered rows; waits if the writer is two files behind."""
        if not self.rows:
            return
        columns = [
            pa.chunked_array([_array(part, field.type) for part in parts], field.type)
            for field, parts in zip(self._schema, zip(*self._waiting, strict=True), strict=True)
        ]
        table = pa.Table.from_arrays(columns, schema=self._schema)
        self._waiting, self.rows = [], 0
        self.files += 1
        path = self._folder / f"part-{self.files:05}.parquet"
        self._written.append(self._writer.submit(write_file, table, path))
        while len(self._written) > 2:
            self._written.pop(0).result()

    def finish(self) -> None:
        """Writes all remaining rows before it returns; a table without rows has an empty file."""
        self.flush()
        if not self.files:
            write_file(self._schema.empty_table(), self._folder / "part-00001.parquet")
        for written in self._written:
            written.result()
        self._written = []


def _array(values: Column, kind: pa.DataType) -> pa.Array:
    return pa.array(values.view("bool") if pa.types.is_boolean(kind) else values, kind)


def make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path} cannot be made: {error.strerror or error}.") from error


def write_file(table: pa.Table, path: Path) -> None:
    """Writes a file atomically; raises `BadInput` if that fails."""
    # Hidden: readers of a whole folder skip such names.
    temporary = path.with_name(f".{path.name}.tmp")
    names = table.schema.names
    options: dict[str, Any] = {
        "compression": {name: "lz4" if name in _QUICK else "zstd" for name in names},
        "compression_level": {name: 1 for name in names if name not in _QUICK},
        "row_group_size": ROWS_PER_GROUP,
        "write_page_checksum": True,
        "use_dictionary": [name for name in names if name not in _DELTA and name in _DICTIONARY],
        # No query selects single addresses or values, so statistics on them only cost time.
        "write_statistics": [name for name in names if name in ("seq", "thread", "site")],
        "column_encoding": {name: "DELTA_BINARY_PACKED" for name in names if name in _DELTA},
    }
    try:
        pq.write_table(table, temporary, **options)
        temporary.rename(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BadInput(f"{path} cannot be written: {error.strerror or error}.") from error
