"""Writes a large synthetic trace dataset, to measure analyses."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from halo.studies.tracing.analyses.schema import TABLES

FIELDS = 12  # of a structure of 96 bytes
STRUCTURES = 5
SHARED = 64  # counters that all threads update, one a line
BATCH = 1_000_000  # rows of a file
# The columns of analyses decompress fast; the others are compressed well.
QUICK = ("thread", "site", "address", "bytes", "missed", "tlb_missed")
REPEATED = ("thread", "site", "bytes", "missed", "tlb_missed", "object_offset")
GROUP = 131_072  # rows of a row group, DuckDB's unit of parallel work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--events", type=int, default=100_000_000)
    parser.add_argument("--addresses", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=4)
    options = parser.parse_args()
    write_trace(options.folder, options.events, options.addresses, options.threads)


def write_trace(folder: Path, events: int, addresses: int, threads: int) -> None:
    """Writes all tables, the accesses in files of a million rows."""
    random = np.random.default_rng(1)
    for start in range(0, events, BATCH):
        rows = min(BATCH, events - start)
        columns = accesses(random, start, rows, addresses, threads)
        write(folder, "accesses", start // BATCH, columns)
    write(folder, "sites", 0, sites())
    write(folder, "fields", 0, fields())
    write(folder, "allocations", 0, allocations(addresses, threads))
    write(folder, "trace", 0, about(events))


def write(folder: Path, table: str, part: int, columns: dict[str, Any]) -> None:
    (folder / table).mkdir(parents=True, exist_ok=True)
    path = folder / table / f"part-{part:06}.parquet"
    rows = pa.table(columns, schema=TABLES[table])
    compression = {name: "lz4" if name in QUICK else "zstd" for name in rows.column_names}
    dictionary = list(REPEATED) if table == "accesses" else True
    pq.write_table(
        rows, path, compression=compression, use_dictionary=dictionary, row_group_size=GROUP
    )


def accesses(
    random: np.random.Generator, start: int, rows: int, addresses: int, threads: int
) -> dict[str, Any]:
    """Accesses by threads to objects of their own; every sixteenth is to a shared counter."""
    thread = np.repeat(random.integers(0, threads, rows // 256 + 1), 256)[:rows]
    objects = addresses // FIELDS
    # A thread visits its own part of the objects, some far more often than others.
    own = objects // threads
    visited = (own * random.random(rows) ** 3).astype(np.int64) + thread * own
    field = random.integers(0, FIELDS, rows)
    site = (visited % STRUCTURES) * FIELDS + field + 1
    address = 0x7F0000000000 + visited * 96 + field * 8
    shared = random.random(rows) < 1 / 16
    address[shared] = 0x10000 + 64 * random.integers(0, SHARED, int(shared.sum()))
    site[shared] = STRUCTURES * FIELDS + 1
    missed = np.where(random.random(rows) < 0.1, random.integers(1, 4, rows), 0)
    return {
        "seq": np.arange(start + 1, start + rows + 1),
        "thread": thread,
        "site": site,
        "address": address,
        "bytes": np.full(rows, 8),
        "value": random.integers(0, 1 << 20, rows),
        "missed": missed,
        "tlb_missed": (missed == 3).astype(np.int8),
        "object": np.where(shared, 0, visited + 1),
        "object_offset": np.where(shared, 0, field * 8),
    }


def sites() -> dict[str, Any]:
    """A site for each field, and one for the shared counter."""
    rows = [
        (f"s{s}.f{f}", f"s{s}", f"f{f}", s, 8 * f, "store" if f == 0 else "load")
        for s in range(STRUCTURES)
        for f in range(FIELDS)
    ] + [("counters[]", "", "", -1, 0, "update")]
    count = len(rows)
    return {
        "site": range(1, count + 1),
        "kind": [row[5] for row in rows],
        "variable": [row[0] for row in rows],
        "type": ["long"] * count,
        "owner": [row[1] for row in rows],
        "owner_id": [row[3] for row in rows],
        "field": [row[2] for row in rows],
        "field_offset": [row[4] for row in rows],
        "bytes": [8] * count,
        "function": [f"work{row[3] + 1}" for row in rows],
        "file": ["work.c"] * count,
        "line": range(10, 10 + count),
        "column": [1] * count,
        "module": ["/bin/work"] * count,
    }


def fields() -> dict[str, Any]:
    rows = [(s, f) for s in range(STRUCTURES) for f in range(FIELDS)]
    return {
        "owner_id": [s for s, _ in rows],
        "owner": [f"s{s}" for s, _ in rows],
        "owner_kind": ["struct"] * len(rows),
        "owner_bytes": [8 * FIELDS] * len(rows),
        "field": [f"f{f}" for _, f in rows],
        "type": ["long"] * len(rows),
        "offset": [8 * f for _, f in rows],
        "bytes": [8] * len(rows),
        "file": ["work.h"] * len(rows),
        "line": [1] * len(rows),
    }


def allocations(addresses: int, threads: int) -> dict[str, Any]:
    objects = np.arange(addresses // FIELDS)
    return {
        "seq": np.zeros_like(objects),
        "thread": objects % threads,
        "object": objects + 1,
        "address": 0x7F0000000000 + objects * 96,
        "bytes": np.full_like(objects, 96),
        "site": np.zeros_like(objects),
        "elements": np.zeros_like(objects),
        "element_bytes": np.zeros_like(objects),
    }


def about(events: int) -> dict[str, Any]:
    machine = {"line": 64, "caches": [{"name": name} for name in ("L1D", "L2", "L3")]}
    row = {
        "program": "/bin/work",
        "arguments": "[]",
        "build_id": "00",
        "producer": "llvm",
        "version": 1,
        "pid": 1,
        "events": events,
        "lost": 0,
        "ending": "complete",
        "detail": "",
        "machine": json.dumps(machine),
        "levels": 3,
    }
    return {name: [value] for name, value in row.items()}


if __name__ == "__main__":
    main()
