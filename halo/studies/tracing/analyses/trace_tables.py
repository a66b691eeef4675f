"""A trace dataset as DuckDB tables, with answers as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from halo.base.errors import BadInput
from halo.studies.tracing.analyses.engines.duckdb import first_line, quoted, rows_of
from halo.studies.tracing.analyses.folder import TraceFolder

MEMORY = "2GB"
Array = npt.NDArray[Any]


class TraceTables:
    """The tables of a dataset, and temporary ones; spills to the folder `scratch`."""

    def __init__(self, dataset: TraceFolder, scratch: Path, threads: int) -> None:
        self._connection = duckdb.connect()
        for key, value in {
            "memory_limit": MEMORY,
            "temp_directory": str(scratch),
            "preserve_insertion_order": "false",
            "enable_progress_bar": "false",
            "threads": str(threads),
        }.items():
            self._connection.execute(f"SET {key} = {quoted(value)}")
        for table in ("accesses", "allocations", "sites", "fields"):
            self.run(f"CREATE VIEW {table} AS {rows_of(table, dataset.files(table))}")

    def run(self, text: str) -> None:
        """Runs a statement; raises `BadInput` if the dataset cannot be read."""
        try:
            self._connection.execute(text)
        except duckdb.Error as error:
            raise BadInput(f"The dataset cannot be read: {first_line(error)}.") from error

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        """The rows of a small answer."""
        self.run(text)
        return self._connection.fetchall()

    def columns(self, text: str) -> dict[str, Array]:
        """The columns of an answer by name; an array is masked where values are missing."""
        self.run(text)
        found: dict[str, Array] = self._connection.fetchnumpy()
        return found

    def put(self, name: str, columns: Mapping[str, Array]) -> None:
        """Makes a temporary table of columns."""
        given = pa.table({key: np.ascontiguousarray(value) for key, value in columns.items()})
        self._connection.register("given", given)
        self.run(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM given")
        self._connection.unregister("given")

    def close(self) -> None:
        self._connection.close()
