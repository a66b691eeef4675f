"""Writes the tables `sites` and `fields`, from the modules of a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from halo.studies.tracing.analyses.schema import TABLES
from halo.studies.tracing.part_files import make_folder, write_file

_SITE = (
    *("kind", "variable", "type", "owner_id", "field", "field_offset", "bytes"),
    *("function", "file", "line", "column"),
)
_FUNCTION, _LINE = _SITE.index("function"), _SITE.index("line")


class SiteRows:
    """Rows of both tables; flush_new() writes them to files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: dict[str, list[dict[str, Any]]] = {"sites": [], "fields": []}
        self._files = 0
        self._first_site = self._end_site = 0  # numbers used by earlier traces
        self._first_owner = self._end_owner = 0
        self._lineless: list[int] = []
        self._nameless: list[int] = []
        for table in self._waiting:
            make_folder(folder / table)

    def begin_trace(self) -> int:
        """The offset to add to the trace's site numbers."""
        self._first_site, self._first_owner = self._end_site, self._end_owner
        return self._first_site

    def add(self, module: dict[str, Any]) -> None:
        """Adds a module's sites and types."""
        owners = module["owners"]["all"]
        first_owner = module["owners"]["first"]
        for at, owner in enumerate(owners):
            self._add_fields(self._first_owner + first_owner + at, owner)
        first = self._first_site + module["first_site"]
        names = {first_owner + at: owner[0] for at, owner in enumerate(owners)}
        with_lines = {site[_FUNCTION] for site in module["sites"] if site[_LINE]}
        for at, values in enumerate(module["sites"]):
            row = dict(zip(_SITE, values, strict=True))
            row["site"] = first + at
            row["owner"] = names.get(row["owner_id"], "")
            row["owner_id"] += self._first_owner if row["owner_id"] >= 0 else 0
            row["module"] = module["path"]
            self._waiting["sites"].append(row)
            # A site merged from two places has no line, unlike others in the function.
            if row["function"] not in with_lines:
                self._lineless.append(row["site"])
            if not row["variable"]:
                self._nameless.append(row["site"])
        self._end_site = first + len(module["sites"])
        self._end_owner = self._first_owner + first_owner + len(owners)

    def _add_fields(self, owner_id: int, owner: list[Any]) -> None:
        name, kind, size, file, line, fields = owner
        for field, type_name, offset, field_size in fields:
            self._waiting["fields"].append(
                {
                    "owner_id": owner_id,
                    "owner": name,
                    "owner_kind": kind,
                    "owner_bytes": size,
                    "field": field,
                    "type": type_name,
                    "offset": offset,
                    "bytes": field_size,
                    "file": file,
                    "line": line,
                }
            )

    def flush_new(self) -> None:
        """Writes the rows added since the last call, if any."""
        if self._waiting["sites"]:
            self._flush()

    def finish(self) -> None:
        """Writes all remaining rows; a table without rows has an empty file."""
        if self._waiting["sites"] or not self._files:
            self._flush()

    def _flush(self) -> None:
        self._files += 1
        for table, rows in self._waiting.items():
            written = pa.Table.from_pylist(rows, TABLES[table])
            write_file(written, self._folder / table / f"part-{self._files:05}.parquet")
            rows.clear()

    def shares_without(self, accesses_by_site: NDArray[np.int64]) -> tuple[float, float]:
        """Shares (0 to 1) of accesses in functions without any line, and without a variable."""
        total = max(int(accesses_by_site.sum()), 1)
        known = len(accesses_by_site)
        shares = [
            int(accesses_by_site[[site for site in sites if site < known]].sum()) / total
            for sites in (self._lineless, self._nameless)
        ]
        return shares[0], shares[1]
