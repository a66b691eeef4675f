"""A trace dataset: its Parquet files, its metadata, and checks that it can be used."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from halo.base.errors import BadInput
from halo.studies.tracing.analyses.schema import TABLES, VERSION

REQUIRED = ("accesses", "sites")
SMALL = ("sites", "fields")


@dataclass(frozen=True)
class About:
    """The metadata of a traced program, from the `trace` table."""

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
    """A dataset that `halo study trace convert` has written or is writing."""

    path: Path

    def files(self, table: str) -> list[Path]:
        """The table's complete files; incomplete ones have another name.

        Raises `BadInput` if one is not a regular file, as opening a pipe could block for ever.
        """
        found = sorted(
            path for path in (self.path / table).glob("*.parquet") if path.name[0] not in "._"
        )
        for path in found:
            if not path.is_file():
                raise BadInput(f"{path} is not a regular file, so it is not part of a table.")
        return found

    @property
    def finished(self) -> bool:
        """Whether the dataset is complete: its `trace` table is written last."""
        return bool(self.files("trace"))

    def read(self, table: str) -> pa.Table:
        """A small table as a whole; an empty one if it has no file yet."""
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
        """The metadata; raises `BadInput` if the dataset is newer, or is not of one trace."""
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
        """The metadata of a trace that is still being converted."""
        return About("", (), "", 0, 0, "running", "", {}, 0)


def open_folder(path: Path) -> TraceFolder:
    """A complete trace dataset; raises `BadInput` if it is missing or incomplete."""
    folder = TraceFolder(path)
    if not path.is_dir():
        raise BadInput(
            f"{path} is not a trace dataset; `halo study trace convert` makes one of a trace."
        )
    if not folder.finished:
        raise BadInput(
            f"{path} has no `trace` table: it is not a trace dataset, or not yet complete."
        )
    for table in REQUIRED:
        if not folder.files(table):
            raise BadInput(f"{path} lacks its table `{table}`; convert the trace again.")
    for table in SMALL:
        folder.read(table)  # which checks its pages: DuckDB does not
    folder.about()
    return folder
