"""The tables of a trace as columns, which docs/trace-columns.md describes: names and types."""

from __future__ import annotations

import pyarrow as pa

VERSION = 1
LINE_SHIFT = 6  # a cache line has 64 bytes

_BIG, _INT, _SMALL, _TEXT = pa.int64(), pa.int32(), pa.int8(), pa.string()

TABLES: dict[str, pa.Schema] = {
    "accesses": pa.schema(
        [
            ("seq", _BIG),
            ("thread", _INT),
            ("site", _INT),
            ("address", _BIG),
            ("bytes", _INT),
            ("value", _BIG),
            ("missed", _SMALL),
            ("tlb_missed", _SMALL),
            ("object", _BIG),
            ("object_offset", _INT),
        ]
    ),
    "calls": pa.schema([("seq", _BIG), ("thread", _INT), ("site", _INT), ("entry", pa.bool_())]),
    "allocations": pa.schema(
        [
            ("seq", _BIG),
            ("thread", _INT),
            ("object", _BIG),
            ("address", _BIG),
            ("bytes", _BIG),
            ("site", _INT),
            ("elements", _BIG),
            ("element_bytes", _BIG),
        ]
    ),
    "frees": pa.schema([("seq", _BIG), ("thread", _INT), ("object", _BIG)]),
    "sites": pa.schema(
        [
            ("site", _INT),
            ("kind", _TEXT),
            ("variable", _TEXT),
            ("type", _TEXT),
            ("owner", _TEXT),
            ("owner_id", _INT),
            ("field", _TEXT),
            ("field_offset", _INT),
            ("bytes", _INT),
            ("function", _TEXT),
            ("file", _TEXT),
            ("line", _INT),
            ("column", _INT),
            ("module", _TEXT),
        ]
    ),
    "fields": pa.schema(
        [
            ("owner_id", _INT),
            ("owner", _TEXT),
            ("owner_kind", _TEXT),
            ("owner_bytes", _INT),
            ("field", _TEXT),
            ("type", _TEXT),
            ("offset", _INT),
            ("bytes", _INT),
            ("file", _TEXT),
            ("line", _INT),
        ]
    ),
    "trace": pa.schema(
        [
            ("program", _TEXT),
            ("arguments", _TEXT),
            ("build_id", _TEXT),
            ("producer", _TEXT),
            ("version", _INT),
            ("pid", _INT),
            ("events", _BIG),
            ("lost", _BIG),
            ("ending", _TEXT),
            ("detail", _TEXT),
            ("machine", _TEXT),
            ("levels", _INT),
        ]
    ),
}
