"""Which objects of a type-aware trace miss the first cache: arrays, large ones, or others."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from halo.studies.layouts.document import MissPlaces
from halo.studies.tracing.analyses.folder import TraceFolder
from halo.studies.tracing.analyses.schema import LINE_SHIFT
from halo.studies.tracing.analyses.trace_tables import TraceTables

_PLACES = f"""
SELECT COUNT(*), COUNT(*) FILTER (o.elements <= 1 AND o.bytes > {1 << LINE_SHIFT}),
    COUNT(*) FILTER (o.elements > 1)
FROM accesses a LEFT JOIN (SELECT * FROM allocations WHERE object > 0) o USING (object)
WHERE a.missed > 0
"""


def miss_places(dataset: TraceFolder, scratch: Path) -> MissPlaces:
    """Counts the misses of a dataset with simulated caches; `BadInput` if it cannot be read.

    An object is an array if it has room for several elements of the type of its allocation site,
    of any size. `scratch` is a folder for temporary files. Miucin, section 3.5.4.
    """
    tables = TraceTables(dataset, scratch, len(os.sched_getaffinity(0)))
    with closing(tables):
        misses, large, arrays = tables.rows(_PLACES)[0]
    return MissPlaces(misses=misses, large=large, arrays=arrays, typed=True)
