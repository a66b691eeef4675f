"""Which threads meet on a cache line: tables that leave out whom a line's writes cannot hurt.

A thread's writes to a line reach from its first to its last one; they hurt another thread if they
may have gone on between that one's first and last access to the line. The numbers of events order
two threads only where an allocation or a free comes between them: without one, what looks like one
after the other may have been at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping

STEPS: Mapping[str, str] = {
    "touched": """
SELECT address >> {shift} AS block, address, reduced.bytes AS bytes, thread,
  reduced.site AS site, accesses, first_seq, last_seq,
  kind IN ('store', 'update', 'write-range') AS writing
FROM reduced JOIN all_sites ON all_sites.site = reduced.site
""",
    # What a thread does to a line; the span of its writes is null where it only reads.
    "spans": """
SELECT block, thread, MIN(first_seq) AS first_seq, MAX(last_seq) AS last_seq,
  MIN(CASE WHEN writing THEN first_seq END) AS first_write,
  MAX(CASE WHEN writing THEN last_seq END) AS last_write
FROM touched GROUP BY block, thread
""",
    # The gap between one thread's writes and another's accesses; it ends before it begins where
    # they overlap.
    "gaps": """
SELECT writer.block AS block, writer.thread AS writer, other.thread AS other,
  LEAST(writer.last_write, other.last_seq) AS gap_begin,
  GREATEST(writer.first_write, other.first_seq) AS gap_end
FROM spans AS writer JOIN spans AS other ON other.block = writer.block
WHERE writer.thread <> other.thread AND writer.first_write IS NOT NULL
""",
    # For each gap's beginning the next event that orders threads.
    "ordering": """
SELECT seq, change, MIN(change) OVER (ORDER BY seq ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
  AS next_change
FROM (
  SELECT gap_begin AS seq, MIN(CAST(NULL AS BIGINT)) AS change
  FROM gaps WHERE gap_begin < gap_end GROUP BY gap_begin
  UNION ALL SELECT seq, seq AS change FROM allocations WHERE object <> 0
  UNION ALL SELECT seq, seq AS change FROM frees
) AS moments
""",
    "meetings": """
SELECT block, writer, other FROM gaps WHERE gap_begin >= gap_end
UNION ALL
SELECT block, writer, other FROM gaps JOIN ordering ON ordering.seq = gaps.gap_begin
WHERE gap_begin < gap_end AND change IS NULL AND COALESCE(next_change > gap_end, TRUE)
""",
    "present": """
SELECT block, writer AS thread FROM meetings UNION SELECT block, other AS thread FROM meetings
""",
    "touches": """
SELECT touched.block AS block, address, bytes, touched.thread AS thread, site, accesses,
  CASE WHEN writing THEN accesses ELSE 0 END AS writes
FROM touched JOIN present ON present.block = touched.block AND present.thread = touched.thread
""",
}
