"""The types of a trace's objects, and how each is accessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halo.studies.layouts.layout_file import Layout
from halo.studies.tracing.analyses.engines.duckdb import quoted
from halo.studies.tracing.analyses.trace_tables import TraceTables

_OBJECTS = """
CREATE TEMP TABLE objects AS
SELECT a.object, a.seq AS born, a.thread, a.address, a.bytes, a.elements, a.site, s.type
FROM allocations a JOIN sites s USING (site)
WHERE a.object > 0 AND s.type <> ''
"""
_SURVEY = """
WITH ranges AS (
    SELECT a.seq, a.bytes, s.kind FROM accesses a JOIN sites s USING (site)
    WHERE s.kind IN ('read-range', 'write-range')
), copies AS (
    SELECT w.seq FROM ranges w JOIN ranges r ON r.seq = w.seq - 1 AND r.bytes = w.bytes
    WHERE w.kind = 'write-range' AND r.kind = 'read-range'
), uses AS (
    SELECT o.type, COUNT(*) AS accesses,
        COUNT(*) FILTER (o.elements > 1) AS to_arrays,
        COUNT(*) FILTER (s.owner_id < 0) AS unnamed,
        COUNT(*) FILTER (s.kind IN ('store', 'update', 'write-range')) AS writes,
        COUNT(c.seq) AS copies
    FROM accesses a
    JOIN objects o USING (object) JOIN sites s ON s.site = a.site
    LEFT JOIN copies c ON c.seq = a.seq
    GROUP BY o.type
)
SELECT o.type, COUNT(*) AS objects, COUNT(*) FILTER (o.elements <= 1) AS single,
    CAST(COALESCE(SUM(o.bytes) FILTER (o.elements <= 1), 0) AS BIGINT) AS single_bytes,
    any_value(u.accesses), any_value(u.to_arrays), any_value(u.unnamed), any_value(u.writes),
    any_value(u.copies)
FROM objects o JOIN uses u USING (type) GROUP BY o.type ORDER BY 5 DESC, o.type
"""


@dataclass(frozen=True)
class Kind:
    """A type, and counts of its objects and of the accesses to them.

    `single` objects are not arrays, and fill `single_bytes`. `to_arrays`: accesses to arrays;
    `unnamed`: those to no field of a structure; `copies`: writes that copy memory.
    """

    type: str
    objects: int
    single: int
    single_bytes: int
    accesses: int
    to_arrays: int
    unnamed: int
    writes: int
    copies: int


def survey(tables: TraceTables) -> list[Kind]:
    """Makes the table `objects`; the types whose objects are accessed, the most accessed first."""
    tables.run(_OBJECTS)
    return [Kind(*row) for row in tables.rows(_SURVEY)]


def singles(tables: TraceTables, layout: Layout, name: str) -> npt.NDArray[np.bool_]:
    """Which objects of the layout have that type and are not arrays, shape (objects)."""
    text = f"SELECT object FROM objects WHERE type = {quoted(name)} AND elements <= 1"
    return np.isin(layout.objects, np.asarray(tables.columns(text)["object"]))
