"""A trace as a folder of columns: its files, what it says of itself, and whether it can be used."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from halo.analyses.schema import TABLES, VERSION
from halo.errors import BadInput

REQUIRED = ("accesses", "sites")
SMALL = ("sites", "fields")


@dataclass(frozen=True)
class About:
    """What the `trace` table says of the traced program."""

    program: str
    arguments: tuple[str, ...]
    build_id: str
    events: int
    lost: int
    ending: str
    detail: str
    machine: dict[str, Any]
    levels: int


@dataclass(frozen=True)
class TraceFolder:
    """A folder that `halo columns` has written, or is about to."""

    path: Path

    def files(self, table: str) -> list[Path]:
        """The table's files that are complete: one that is being written has another name.

        BadInput where one is no regular file: to open a pipe would be to wait for ever.
        """
        found = sorted(
            path for path in (self.path / table).glob("*.parquet") if path.name[0] not in "._"
        )
        for path in found:
            if not path.is_file():
                raise BadInput(f"{path} is no regular file, so it is no part of a table.")
        return found

    @property
    def finished(self) -> bool:
        """Whether all of the trace is there: its `trace` table is written last."""
        return bool(self.files("trace"))

    def read(self, table: str) -> pa.Table:
        """A small table as a whole; an empty one where it has no file yet."""
        schema = TABLES[table]
        try:
            parts = [
                pq.read_table(path, columns=schema.names, page_checksum_verification=True)
                for path in self.files(table)
            ]
            return pa.concat_tables([part.cast(schema) for part in parts] or [schema.empty_table()])
        except (OSError, pa.ArrowException, ValueError) as error:
            raise BadInput(f"{self.path}/{table} cannot be read: {error}.") from error

    def about(self) -> About:
        """What the trace says of itself; BadInput where it is newer, or not one trace."""
        rows = self.read("trace").to_pylist()
        builds = {row["build_id"] for row in rows}
        if len(builds) > 1:
            raise BadInput(
                f"{self.path} mixes traces of different builds ({', '.join(sorted(builds))});"
                " convert each into a folder of its own."
            )
        if len(rows) != 1:
            raise BadInput(f"{self.path} holds {len(rows)} traces; it must hold one.")
        row = rows[0]
        if row["version"] > VERSION:
            raise BadInput(
                f"{self.path} is of version {row['version']}, newer than this halo reads"
                f" ({VERSION}); use the halo that wrote it."
            )
        try:
            machine = json.loads(row["machine"] or "{}")
            arguments = tuple(json.loads(row["arguments"] or "[]"))
        except (ValueError, TypeError) as error:
            raise BadInput(f"{self.path}/trace is damaged; convert the trace again.") from error
        taken = {key: row[key] for key in About.__dataclass_fields__}
        return About(**taken | {"arguments": arguments, "machine": machine})

    def about_so_far(self) -> About:
        """What can be said of a trace that is still being written."""
        return About("", (), "", 0, 0, "running", "", {}, 0)


def open_folder(path: Path) -> TraceFolder:
    """A finished folder of columns; BadInput where it is none."""
    folder = TraceFolder(path)
    if not path.is_dir():
        raise BadInput(f"{path} is no folder of columns; `halo columns` makes one of a trace.")
    if not folder.finished:
        raise BadInput(
            f"{path} has no `trace` table: it is no folder of columns, or is not yet finished."
        )
    for table in REQUIRED:
        if not folder.files(table):
            raise BadInput(f"{path} lacks its table `{table}`; convert the trace again.")
    for table in SMALL:
        folder.read(table)  # which checks its pages: DuckDB does not
    folder.about()
    return folder
