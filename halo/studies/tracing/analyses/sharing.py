"""Sharing: cache lines that several threads access and at least one writes.

The thesis, section 2.3.3. Lines that are only read, or accessed by one thread at a time, cost
nothing and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from halo.studies.tracing.analyses import thread_overlap
from halo.studies.tracing.analyses.advice_sharing import advise
from halo.studies.tracing.analyses.analysis import Analysis, Table, Value
from halo.studies.tracing.analyses.report_tables import sharing_tables
from halo.studies.tracing.analyses.schema import LINE_SHIFT

_PLACE = "variable, type, function, file, line"

_STEPS = {
    **thread_overlap.STEPS,
    "by_thread": """
SELECT block, thread, SUM(accesses) AS accesses, SUM(writes) AS writes
FROM touches GROUP BY block, thread
""",
    # A transfer needs an access by another thread than the previous one, and a write: this is the
    # upper bound. The true number depends on timing, which a trace does not have.
    "blocks": """
SELECT block, SUM(accesses) AS accesses, SUM(writes) AS writes, COUNT(*) AS threads,
  SUM(CASE WHEN writes > 0 THEN 1 ELSE 0 END) AS writers,
  LEAST(SUM(accesses), 2 * (SUM(accesses) - MAX(accesses)), SUM(writes) * COUNT(*)) AS transfers
FROM by_thread GROUP BY block HAVING COUNT(*) > 1 AND SUM(writes) > 0
""",
    "placed": """
SELECT touches.block AS block, {place}, SUM(touches.accesses) AS accesses,
  SUM(touches.writes) AS writes, MIN(address) AS first_byte,
  MAX(address + touches.bytes) AS end_byte
FROM touches JOIN blocks ON blocks.block = touches.block
JOIN sites ON sites.site = touches.site
GROUP BY touches.block, {place}
""",
    "places": """
SELECT *, ROW_NUMBER() OVER (PARTITION BY block ORDER BY
  CASE WHEN writes > 0 THEN 0 ELSE 1 END, accesses DESC, {place}) AS place
FROM placed
""",
    # Each variable that is the first of some line, with the worst of these lines.
    "leaders": """
SELECT blocks.block AS block, transfers,
  CASE WHEN variable = '' THEN file || ':' || CAST(line AS STRING) ELSE variable END AS leader
FROM places JOIN blocks ON blocks.block = places.block WHERE place = 1
""",
    "ordered": """
SELECT block, leader, SUM(transfers) OVER (PARTITION BY leader) AS transfers,
  COUNT(*) OVER (PARTITION BY leader) AS lines,
  ROW_NUMBER() OVER (PARTITION BY leader ORDER BY transfers DESC, block) AS number
FROM leaders
""",
    "picked": """
SELECT * FROM (
  SELECT block, transfers, lines,
    ROW_NUMBER() OVER (ORDER BY transfers DESC, leader) AS place_of_line
  FROM ordered WHERE number = 1
) AS worst WHERE place_of_line <= {limit}
""",
    "grains": """
SELECT touches.block AS block, address, bytes, thread, SUM(accesses) AS accesses,
  SUM(writes) AS writes
FROM touches JOIN picked ON picked.block = touches.block
GROUP BY touches.block, address, bytes, thread
""",
    # Accesses of other threads to the same bytes and to bytes beside them, if one of both writes.
    "met": """
SELECT block, address, bytes, thread, SUM(CASE WHEN overlap THEN accesses ELSE 0 END) AS same,
  SUM(CASE WHEN overlap THEN 0 ELSE accesses END) AS beside
FROM (
  SELECT own.block AS block, own.address AS address, own.bytes AS bytes, own.thread AS thread,
    other.accesses AS accesses, own.address < other.address + other.bytes
      AND other.address < own.address + own.bytes AS overlap
  FROM grains AS own JOIN grains AS other ON other.block = own.block
  WHERE other.thread <> own.thread AND (own.writes > 0 OR other.writes > 0)
) AS pairs GROUP BY block, address, bytes, thread
""",
    "shares": """
SELECT touches.block AS block, {place}, touches.thread AS thread,
  SUM(accesses) AS accesses, SUM(writes) AS writes, SUM(LEAST(accesses, COALESCE(same, 0))) AS same,
  SUM(LEAST(accesses, COALESCE(beside, 0))) AS beside,
  ROW_NUMBER() OVER (PARTITION BY touches.block, {place}
    ORDER BY SUM(accesses) DESC, touches.thread) AS number
FROM touches JOIN picked ON picked.block = touches.block
JOIN sites ON sites.site = touches.site
LEFT JOIN met ON met.block = touches.block AND met.address = touches.address
  AND met.bytes = touches.bytes AND met.thread = touches.thread
GROUP BY touches.block, {place}, touches.thread
""",
    "summed": """
SELECT block, {place}, COUNT(*) AS threads,
  SUM(CASE WHEN writes > 0 THEN 1 ELSE 0 END) AS writers, SUM(same) AS same, SUM(beside) AS beside,
  MAX(accesses) AS most, MAX(CASE WHEN number = 2 THEN accesses ELSE 0 END) AS second
FROM shares GROUP BY block, {place}
""",
}

_SAME_PLACE = " AND ".join(f"{{0}}.{name} = places.{name}" for name in _PLACE.split(", "))


class Sharing(Analysis):
    """Ranks variables by the maximum number of transfers of their lines between threads."""

    name = "sharing"
    summary = "variables and cache lines shared by threads, truly and falsely"
    parameters: ClassVar[Mapping[str, Value]] = {"limit": 20}

    keep = """
SELECT address >> {shift} AS block FROM accesses
GROUP BY address >> {shift} HAVING MIN(thread) <> MAX(thread)
"""
    keep_key = f"address >> {LINE_SHIFT}"

    reduce = """
SELECT address, bytes, thread, site, COUNT(*) AS accesses, MIN(seq) AS first_seq,
  MAX(seq) AS last_seq
FROM accesses GROUP BY address, bytes, thread, site
"""

    steps: ClassVar[Mapping[str, str]] = _STEPS

    report = f"""
SELECT CAST(place_of_line AS BIGINT) AS rank, CAST(picked.transfers AS BIGINT) AS transfers,
  CAST(lines AS BIGINT) AS lines, picked.block * {1 << LINE_SHIFT} AS cache_line,
  CAST(blocks.accesses AS BIGINT) AS line_accesses, CAST(blocks.writes AS BIGINT) AS line_writes,
  CAST(blocks.threads AS BIGINT) AS line_threads,
  CAST(blocks.writers AS BIGINT) AS line_writers, CAST(place AS BIGINT) AS place,
  CASE WHEN same > 0 AND same * 2 >= beside THEN 'true' ELSE 'false' END AS sharing,
  {", ".join(f"places.{name} AS {name}" for name in _PLACE.split(", "))},
  first_byte - picked.block * {1 << LINE_SHIFT} AS line_offset, end_byte - first_byte AS bytes,
  CAST(places.accesses AS BIGINT) AS accesses, CAST(places.writes AS BIGINT) AS writes,
  CAST(summed.threads AS BIGINT) AS threads, CAST(summed.writers AS BIGINT) AS writers,
  CASE WHEN second > 0 AND most < 2 * second THEN 'yes' ELSE 'no' END AS uniform
FROM picked JOIN blocks ON blocks.block = picked.block
JOIN places ON places.block = picked.block
JOIN summed ON summed.block = places.block AND {_SAME_PLACE.format("summed")}
WHERE place <= {{places}} ORDER BY rank, place
"""

    details: ClassVar[Mapping[str, str]] = {
        "totals": """
SELECT CAST(COALESCE((SELECT SUM(transfers) FROM blocks), 0) AS BIGINT) AS transfers,
  CAST(COALESCE((SELECT SUM(events) FROM trace), 0) AS BIGINT) AS events
""",
        # Listing 2.5: how often each thread accesses, the one with most accesses first.
        "threads": f"""
SELECT CAST(place_of_line AS BIGINT) AS rank, CAST(place AS BIGINT) AS place,
  thread, CAST(shares.accesses AS BIGINT) AS accesses
FROM picked JOIN places ON places.block = picked.block
JOIN shares ON shares.block = places.block AND {_SAME_PLACE.format("shares")}
WHERE place <= {{places}} ORDER BY rank, place, shares.number
""",
    }

    def fill(self, parameters: Mapping[str, Value]) -> Mapping[str, Value]:
        return {"places": 8, **parameters, "shift": LINE_SHIFT, "place": _PLACE}

    def rendered(self, report: Table) -> Table:
        return sharing_tables(report)

    def findings(self, report: Table, details: Mapping[str, Table]) -> Sequence[str]:
        return advise(report, details["totals"])
