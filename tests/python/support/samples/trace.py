"""Small traces as columns, made by hand, for the tests of what reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from halo.studies.tracing.analyses.schema import TABLES

MACHINE = {"line": 64, "caches": [{"name": "L1D"}, {"name": "L2"}]}


@dataclass
class SampleTrace:
    """A trace that grows by a call for each event; sites and structures by name."""

    rows: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {table: [] for table in TABLES}
    )

    def structure(self, name: str, size: int, *fields: tuple[str, int, int]) -> int:
        """A structure of fields (name, offset, bytes); its owner id."""
        owner_id = len({row["owner_id"] for row in self.rows["fields"]})
        for each, offset, size_of_field in fields:
            self.rows["fields"].append(
                {
                    "owner_id": owner_id,
                    "owner": name,
                    "owner_kind": "struct",
                    "owner_bytes": size,
                    "field": each,
                    "type": "long",
                    "offset": offset,
                    "bytes": size_of_field,
                    "file": "sample.h",
                    "line": 1,
                }
            )
        return owner_id

    def site(self, kind: str, variable: str, line: int, **more: Any) -> int:
        """A place in the source; a variable `owner.field` of a known structure is a field of it."""
        site = len(self.rows["sites"]) + 1
        owner, _, name = variable.partition(".")
        known = [
            row for row in self.rows["fields"] if row["owner"] == owner and row["field"] == name
        ]
        row = {
            "site": site,
            "kind": kind,
            "variable": variable,
            "type": "long",
            "owner": owner if known else "",
            "owner_id": known[0]["owner_id"] if known else -1,
            "field": name if known else "",
            "field_offset": known[0]["offset"] if known else 0,
            "bytes": 8,
            "function": "work",
            "file": "src/sample.c",
            "line": line,
            "column": 3,
            "module": "/bin/sample",
        }
        self.rows["sites"].append({**row, **more})
        return site

    def access(self, site: int, address: int, thread: int = 0, **more: Any) -> None:
        """One access, a hit where `missed` does not say otherwise."""
        row = {
            "seq": self._next_seq(),
            "thread": thread,
            "site": site,
            "address": address,
            "bytes": 8,
            "value": 0,
            "missed": 0,
            "tlb_missed": 0,
            "object": 0,
            "object_offset": 0,
        }
        self.rows["accesses"].append({**row, **more})

    def free(self, object_number: int, thread: int = 0) -> None:
        """The free of a heap object, which orders the events of threads."""
        row = {"seq": self._next_seq(), "thread": thread, "object": object_number}
        self.rows["frees"].append(row)

    def _next_seq(self) -> int:
        return 1 + sum(len(self.rows[table]) for table in ("accesses", "allocations", "frees"))

    def write(self, folder: Path, parts: int = 2, finished: bool = True, **trace: Any) -> Path:
        """Writes the dataset, with its accesses in that number of files."""
        about = {
            "program": "/bin/sample",
            "arguments": json.dumps(["-n", "3"]),
            "build_id": "ab" * 20,
            "producer": "llvm",
            "version": 1,
            "pid": 7,
            "events": len(self.rows["accesses"]),
            "lost": 0,
            "ending": "complete",
            "detail": "",
            "machine": json.dumps(MACHINE),
            "levels": 2,
        }
        self.rows["trace"] = [{**about, **trace}] if finished else []
        for table, rows in self.rows.items():
            share = -(-len(rows) // parts) if table == "accesses" and rows else max(len(rows), 1)
            for part, start in enumerate(range(0, len(rows), share)):
                write_part(folder, table, part, rows[start : start + share])
        return folder


def write_part(folder: Path, table: str, part: int, rows: list[dict[str, Any]]) -> None:
    """One file of a table."""
    (folder / table).mkdir(parents=True, exist_ok=True)
    path = folder / table / f"part-{part:05}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=TABLES[table]), path, compression="zstd")


def scan_of_wide_structures(records: int = 64) -> SampleTrace:
    """An array of wide structures of which a loop reads one field, and one that is read whole."""
    trace = SampleTrace()
    trace.structure("record", 128, ("key", 0, 8), ("rest", 8, 120))
    trace.structure("pair", 16, ("left", 0, 8), ("right", 8, 8))
    key = trace.site("load", "record.key", 10, function="scan")
    left = trace.site("load", "pair.left", 20, function="sum")
    right = trace.site("load", "pair.right", 20, function="sum")
    total = trace.site("store", "total", 11, function="scan")
    for at in range(records):
        trace.access(key, 0x10000 + 128 * at, missed=2, tlb_missed=int(at % 32 == 0))
        trace.access(total, 0x9000)
        trace.access(left, 0x40000 + 16 * at, missed=2 if at % 4 == 0 else 0)
        trace.access(right, 0x40008 + 16 * at, missed=int(at % 16 == 1))
    return trace


LINE = 0x10000


def counters(atomic: bool) -> SampleTrace:
    """Four threads update a counter of a structure, beside a field that is only read."""
    trace = SampleTrace()
    trace.structure("stats", 64, ("limit", 0, 8), ("hits", 8, 8))
    table = trace.site("load", "table[]", 30)
    limit = trace.site("load", "stats.limit", 31)
    hits = (
        [trace.site("update", "stats.hits", 32)]
        if atomic
        else [trace.site("load", "stats.hits", 32), trace.site("store", "stats.hits", 32)]
    )
    for at in range(100):
        for thread in range(4):
            for step in range(6):
                trace.access(table, 0x50000 + 8 * step, thread)
            if at % 10 == 0:
                trace.access(limit, LINE, thread)
            for site in hits:
                trace.access(site, LINE + 8, thread)
    return trace
