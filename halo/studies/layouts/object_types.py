"""The types of a type-aware trace's objects, for `halo-layout` (its object_types.h)."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import numpy as np

from halo.base.errors import BadInput
from halo.studies.layouts.type_filter import TypeFilter
from halo.studies.tracing.analyses.folder import TraceFolder
from halo.studies.tracing.analyses.names import first_names
from halo.studies.tracing.analyses.trace_tables import TraceTables

_TYPED = """
CREATE TEMP TABLE typed AS
SELECT a.object, COALESCE(s.type, '') AS type,
    COALESCE(s.type, '') <> '' AND NOT (
        a.elements > 1 AND s.type NOT IN (SELECT owner FROM fields)
    ) AS eligible
FROM allocations a LEFT JOIN sites s USING (site) WHERE a.object > 0
"""
_TYPES = """
SELECT type, COUNT(*) FILTER (eligible) FROM typed
WHERE type <> '' GROUP BY type ORDER BY MIN(object)
"""
_NUMBERED = """
SELECT object, COALESCE(number, 0) AS number, COALESCE(chosen, false) AND eligible AS in_graph
FROM typed LEFT JOIN numbers USING (type) ORDER BY object
"""


def write_types(dataset: TraceFolder, wanted: TypeFilter, path: Path, scratch: Path) -> bool:
    """Writes the type of each object, and whether it is in the graph; false if none has a type.

    Then there is no file. Arrays of types that are not structures are left out of a filtered graph,
    and of the counts. `BadInput` if no object has a wanted type. `scratch` is for temporary files.
    """
    tables = TraceTables(dataset, scratch, len(os.sched_getaffinity(0)))
    with closing(tables):
        tables.run(_TYPED)
        counts: dict[str, int] = dict(tables.rows(_TYPES))
        chosen = _chosen(counts, wanted)
        if not counts:
            return False
        named = {
            "type": np.array([*counts], object),
            "number": np.arange(1, len(counts) + 1),
            "chosen": np.array([name in chosen for name in counts]),
        }
        tables.put("numbers", named)
        found = tables.columns(_NUMBERED)
    in_graph = np.asarray(found["in_graph"], bool)
    if not (wanted.names or wanted.top):
        in_graph[:] = True
    np.savetxt(path, np.column_stack([found["object"], found["number"], in_graph]), fmt="%d")
    return True


def _chosen(counts: dict[str, int], wanted: TypeFilter) -> set[str]:
    """The names of the wanted types, of those that objects have, with the number of objects."""
    ranked = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    for name in wanted.names:
        if name not in ranked:
            raise BadInput(
                f"No heap object has the type {name}, or only arrays of numbers or pointers; types"
                f" with most objects: {first_names(ranked)}."
            )
    if wanted.top and not ranked:
        raise BadInput("No heap object has a known type, so --top-types cannot be used.")
    return {*wanted.names, *ranked[: wanted.top]}
