"""Cache offenders: the variables and lines whose misses cost most (thesis, section 2.3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from halo.base.errors import UsageError
from halo.record.simulation.latencies import CACHE_CYCLES, MEMORY_CYCLES
from halo.studies.tracing.analyses.advice_offenders import advise
from halo.studies.tracing.analyses.analysis import Analysis, Table, Value
from halo.studies.tracing.analyses.report_tables import offender_tables

# The key of a row; the other names are those of one of its sites.
BY = {
    "variable": ("variable", "file", "line"),
    "line": ("file", "line"),
    "function": ("function", "file"),
}
_NAMES = ("variable", "owner", "type", "function", "file", "line")
# Cycles by the number of levels that missed; a miss in all levels is a separate case.
_CASES = " ".join(f"WHEN {level} THEN {cycles}" for level, cycles in enumerate(CACHE_CYCLES))


class Offenders(Analysis):
    """Ranks by modelled cycles of the misses, then by misses of each level, then by accesses."""

    name = "offenders"
    summary = "variables and lines by what their cache misses cost"
    parameters: ClassVar[Mapping[str, Value]] = {"limit": 20, "by": "variable"}

    reduce = """
SELECT site, missed, tlb_missed, COUNT(*) AS accesses
FROM accesses GROUP BY site, missed, tlb_missed
"""

    steps: ClassVar[Mapping[str, str]] = {
        # If the trace is incomplete, its last level is the deepest seen so far.
        "machine": """
SELECT COALESCE((SELECT MAX(levels) FROM trace), (SELECT MAX(missed) FROM reduced)) AS levels
""",
        # By the level that held the data: behind the machine's last level is the memory.
        "counted": f"""
SELECT site, SUM(accesses) AS accesses,
  SUM(CASE WHEN missed >= 1 THEN accesses ELSE 0 END) AS first_missed,
  SUM(CASE WHEN levels >= 1 AND missed >= levels THEN accesses ELSE 0 END) AS last_missed,
  SUM(CASE WHEN tlb_missed >= 1 THEN accesses ELSE 0 END) AS tlb_missed,
  SUM(accesses * CASE WHEN levels >= 1 AND missed >= levels THEN {MEMORY_CYCLES}
    ELSE CASE missed {_CASES} ELSE {CACHE_CYCLES[-1]} END END) AS cycles
FROM reduced CROSS JOIN machine GROUP BY site
""",
    }

    report = """
SELECT {names},
  CAST(SUM(accesses) AS BIGINT) AS accesses,
  CAST(SUM(first_missed) AS BIGINT) AS first_missed,
  CAST(SUM(last_missed) AS BIGINT) AS last_missed,
  CAST(SUM(counted.tlb_missed) AS BIGINT) AS tlb_missed,
  CAST(SUM(cycles) AS BIGINT) AS cycles,
  CAST(FLOOR(SUM(cycles) * 1000
    / GREATEST((SELECT SUM(cycles) FROM counted), 1)) AS BIGINT) AS permille
FROM counted JOIN sites ON sites.site = counted.site
GROUP BY {keys}
ORDER BY cycles DESC, last_missed DESC, first_missed DESC, accesses DESC, {keys} LIMIT {limit}
"""

    details: ClassVar[Mapping[str, str]] = {
        "totals": """
SELECT CAST(COALESCE(SUM(accesses), 0) AS BIGINT) AS accesses,
  CAST(COALESCE(SUM(first_missed), 0) AS BIGINT) AS first_missed,
  CAST(COALESCE(SUM(last_missed), 0) AS BIGINT) AS last_missed,
  CAST(COALESCE(SUM(cycles), 0) AS BIGINT) AS cycles
FROM counted
""",
        # Which bytes of a structure a function accesses, and how often.
        "used": """
SELECT sites.owner AS owner, owner_bytes, function, file, field, field_offset,
  bytes, CAST(SUM(accesses) AS BIGINT) AS accesses
FROM counted JOIN sites ON sites.site = counted.site
JOIN (SELECT owner_id, MAX(owner_bytes) AS owner_bytes FROM fields GROUP BY owner_id) AS owners
  ON owners.owner_id = sites.owner_id
GROUP BY sites.owner, owner_bytes, function, file, field, field_offset, bytes
ORDER BY owner, owner_bytes, function, file, field_offset, field, bytes
""",
    }

    def fill(self, parameters: Mapping[str, Value]) -> Mapping[str, Value]:
        keys = BY.get(str(parameters["by"]))
        if keys is None:
            raise UsageError(f"--by is one of {', '.join(BY)}, not '{parameters['by']}'.")
        columns = [name if name in keys else f"MIN({name}) AS {name}" for name in _NAMES]
        return {**parameters, "keys": ", ".join(keys), "names": ", ".join(columns)}

    def rendered(self, report: Table) -> Table:
        return offender_tables(report)

    def findings(self, report: Table, details: Mapping[str, Table]) -> Sequence[str]:
        return advise(report, details["used"], details["totals"])
