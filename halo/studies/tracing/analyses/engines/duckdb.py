"""The embedded engine: DuckDB, within limits of memory and threads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb

from halo.base.errors import BadInput
from halo.studies.tracing.analyses.analysis import Queries, Table
from halo.studies.tracing.analyses.engines.engine import (
    REPORT_TABLES,
    Answers,
    Sources,
    memory_bytes,
)
from halo.studies.tracing.analyses.schema import TABLES

DEFAULT_MEMORY = "2GB"


class DuckDbEngine:
    """DuckDB in this process; it spills into `folder` if data exceed `memory`."""

    name = "duckdb"

    def __init__(self, folder: Path, memory: str = DEFAULT_MEMORY, threads: int = 0) -> None:
        self._connection = duckdb.connect()
        # Preserving the order of rows would cost memory; queries have an ORDER BY if they need one.
        settings = {
            "memory_limit": f"{memory_bytes(memory)}B",
            "temp_directory": str(folder),
            "preserve_insertion_order": "false",
            "enable_progress_bar": "false",
            **({"threads": str(threads)} if threads else {}),
        }
        for key, value in settings.items():
            self._connection.execute(f"SET {key} = {quoted(value)}")

    def run(self, queries: Queries, sources: Sources) -> Answers:
        """The answers; raises `BadInput` if the files cannot be read."""
        try:
            return self._run(queries, sources)
        except duckdb.OutOfMemoryException as error:
            raise BadInput(
                f"The analysis needs more memory than its limit (--memory): {first_line(error)}."
            ) from error
        except (duckdb.Error, UnicodeDecodeError) as error:
            # DuckDB throws almost any of its exceptions for a damaged file; our queries are valid.
            raise BadInput(f"The dataset cannot be read: {first_line(error)}.") from error

    def close(self) -> None:
        self._connection.close()

    def _run(self, queries: Queries, sources: Sources) -> Answers:
        for table in ("accesses", *REPORT_TABLES):
            self._view(table, rows_of(table, sources.files.get(table, ())))
        if queries.keep:
            self._table("kept", queries.keep)
            accesses = rows_of("accesses", sources.files["accesses"])
            narrowed = f"{accesses} WHERE {queries.keep_key} IN (FROM kept)"
            self._view("accesses", narrowed)
        for name, text in {"reduced": queries.reduce, **queries.steps}.items():
            self._table(name, text)
        return Answers(
            report=self._answer(queries.report),
            details={name: self._answer(text) for name, text in queries.details.items()},
        )

    def _view(self, name: str, text: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE VIEW {name} AS {text}")

    def _table(self, name: str, text: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {text}")

    def _answer(self, text: str) -> Table:
        result = self._connection.execute(text)
        columns = tuple(column[0] for column in result.description or ())
        return Table(columns, tuple(result.fetchall()))


def rows_of(table: str, files: Sequence[Path]) -> str:
    """SQL for all rows of a table. A folder named like `thread=4` adds no column."""
    if files:
        names = ", ".join(quoted(str(path)) for path in files)
        return f"SELECT * FROM read_parquet([{names}], hive_partitioning = false)"
    types = {"int64": "BIGINT", "int32": "INTEGER", "int8": "TINYINT", "bool": "BOOLEAN"}
    columns = ", ".join(
        f'CAST(NULL AS {types.get(str(column.type), "VARCHAR")}) AS "{column.name}"'
        for column in TABLES["sites" if table == "all_sites" else table]
    )
    return f"SELECT {columns} WHERE false"


def quoted(text: str) -> str:
    """A string as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
