"""The values of objects' fields, and which of them are known at birth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from halo.studies.hints.leaves import WORD, Leaf, Shape
from halo.studies.tracing.analyses.engines.duckdb import quoted
from halo.studies.tracing.analyses.trace_tables import TraceTables

_DEADLINES = """
CREATE OR REPLACE TEMP TABLE deadlines AS
WITH turns AS (
    SELECT object, born,
        LEAD(born) OVER (PARTITION BY thread ORDER BY born) AS next_born
    FROM objects WHERE type = {type} AND elements <= 1
), reads AS (
    SELECT a.object, MIN(a.seq) AS first_read
    FROM accesses a JOIN chosen USING (object) JOIN sites s ON s.site = a.site
    WHERE s.kind IN ('load', 'update', 'read-range') GROUP BY a.object
)
SELECT c.object, c.place, t.born,
    LEAST(COALESCE(r.first_read, {never}), COALESCE(t.next_born, {never})) AS deadline
FROM chosen c JOIN turns t USING (object) LEFT JOIN reads r USING (object)
"""
_VALUES = """
WITH pieces AS (
    SELECT d.place, d.deadline, p.leaf, p.known, p.write, a.seq,
        (a.value >> p.shift) & p.mask AS value
    FROM accesses a
    JOIN deadlines d USING (object)
    JOIN parts p ON p.site = a.site AND p.object_offset = a.object_offset AND p.bytes = a.bytes
)
SELECT place, leaf,
    arg_max(value, seq) FILTER (known) AS latest,
    MAX(seq) FILTER (known) AS seen,
    arg_max(value, seq) FILTER (known AND write AND seq < deadline) AS early,
    COUNT(*) FILTER (write AND seq < deadline) AS early_writes,
    MAX(seq) FILTER (write AND seq < deadline) AS written,
    MIN(value) FILTER (known AND seq >= deadline) AS late_low,
    MAX(value) FILTER (known AND seq >= deadline) AS late_high,
    COUNT(*) FILTER (write AND NOT known AND seq >= deadline) AS late_unknown
FROM pieces GROUP BY place, leaf
"""
_NEVER = 2**62

Objects = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FieldValues:
    """A field of each object: its last value as in memory, zero-extended, where `present`.

    `seen` is the number of the event that shows it. `at_birth`: whether it was written before the
    object was first read and before the thread's next object of its type, and never changed;
    `written` is the number of the last such write. `accessed`: by anything, values or not.
    """

    leaf: Leaf
    bits: npt.NDArray[np.int64]
    present: npt.NDArray[np.bool_]
    seen: npt.NDArray[np.int64]
    at_birth: npt.NDArray[np.bool_]
    written: npt.NDArray[np.int64]
    accessed: npt.NDArray[np.bool_]

    def numbers(self) -> npt.NDArray[np.float64]:
        """The values as numbers; NaN where there is none."""
        values = decoded(self.bits, self.leaf).astype(np.float64)
        return np.where(self.present, values, np.nan)


def field_values(
    tables: TraceTables, kind: str, shape: Shape, objects: Objects
) -> list[FieldValues]:
    """The values of a type's fields, in the order of `objects`, which are not arrays."""
    tables.put("chosen", {"object": objects, "place": np.arange(len(objects))})
    tables.run(_DEADLINES.format(type=quoted(kind), never=_NEVER))
    names = ("site", "object_offset", "bytes", "leaf", "shift", "known", "write")
    columns = {name: np.array([getattr(part, name) for part in shape.parts]) for name in names}
    widths = np.array([shape.leaves[part.leaf].width for part in shape.parts], np.int64)
    columns["mask"] = np.where(widths >= WORD, -1, (1 << 8 * np.minimum(widths, 7)) - 1)
    if not shape.parts:
        return []
    tables.put("parts", columns)
    found = tables.columns(_VALUES)
    numbers = np.asarray(found["leaf"])
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(len(shape.leaves) + 1))
    return [
        _of_leaf(leaf, found, order[begin:end], len(objects))
        for leaf, begin, end in zip(shape.leaves, ends, ends[1:], strict=False)
    ]


def _of_leaf(
    leaf: Leaf, found: dict[str, Any], rows: npt.NDArray[np.int64], count: int
) -> FieldValues:
    def column(name: str) -> Any:
        return np.ma.masked_array(found[name])[rows]

    place = np.asarray(found["place"])[rows]
    latest, early = column("latest"), column("early")
    low, high = column("late_low"), column("late_high")
    early_known, late_known = ~np.ma.getmaskarray(early), ~np.ma.getmaskarray(low)
    low, high, start = low.filled(0), high.filled(0), early.filled(0)
    constant = ~late_known | ((low == high) & (~early_known | (start == low)))
    at_birth = (column("early_writes").filled(0) > 0) & constant
    at_birth &= column("late_unknown").filled(0) == 0
    spread = _Spread(place, count)
    return FieldValues(
        leaf,
        spread(latest.filled(0)),
        spread(~np.ma.getmaskarray(latest)),
        spread(column("seen").filled(0)),
        spread(at_birth),
        spread(column("written").filled(0)),
        spread(np.ones(len(place), bool)),
    )


@dataclass(frozen=True)
class _Spread:
    """Puts rows at their places among `count` objects."""

    place: npt.NDArray[np.int64]
    count: int

    def __call__(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        whole = np.zeros(self.count, rows.dtype)
        whole[self.place] = rows
        return whole


def decoded(bits: npt.NDArray[np.int64], leaf: Leaf) -> npt.NDArray[Any]:
    """The numbers that bits mean in a field of that type, exactly: reals or integers.

    `bits` has the field's bytes as in memory, zero-extended, shape (objects); the result has that
    shape, and the element type float32, float64, int64 or uint64.
    """
    if leaf.is_real and leaf.width in (4, 8):
        raw = bits.astype(np.uint64)
        return raw.astype(np.uint32).view(np.float32) if leaf.width == 4 else raw.view(np.float64)
    if leaf.is_unsigned:
        return bits.view(np.uint64)
    if leaf.width >= WORD:
        return bits
    sign = np.int64(1) << (8 * leaf.width - 1)
    return np.asarray((bits ^ sign) - sign)
