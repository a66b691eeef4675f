"""The tables of a trace dataset (docs/trace-columns.md): column names and types."""

from __future__ import annotations

import pyarrow as pa

from halo.studies.tracing.analyses import column_blocks

VERSION = 1
LINE_SHIFT = 6  # a cache line has 64 bytes

_BIG, _INT, _SMALL, _TEXT = pa.int64(), pa.int32(), pa.int8(), pa.string()

TABLES: dict[str, pa.Schema] = {
    **{name: pa.schema(columns) for name, columns in column_blocks.TABLES.items()},
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
