"""Finds the threads whose use of a cache line overlaps; drops those that writes cannot affect.

A thread's writes to a line span from its first to its last write. They affect another thread if
the span may overlap the one from that thread's first to its last access. Event numbers order two
threads only if an allocation or a free is between them; without one, they may be concurrent.
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
    # The use of a line by a thread; the span of its writes is null if it only reads.
    "spans": """
SELECT block, thread, MIN(first_seq) AS first_seq, MAX(last_seq) AS last_seq,
  MIN(CASE WHEN writing THEN first_seq END) AS first_write,
  MAX(CASE WHEN writing THEN last_seq END) AS last_write
FROM touched GROUP BY block, thread
""",
    # The gap between one thread's writes and another's accesses; it ends before it begins if they
    # overlap.
    "gaps": """
SELECT writer.block AS block, writer.thread AS writer, other.thread AS other,
  LEAST(writer.last_write, other.last_seq) AS gap_begin,
  GREATEST(writer.first_write, other.first_seq) AS gap_end
FROM spans AS writer JOIN spans AS other ON other.block = writer.block
WHERE writer.thread <> other.thread AND writer.first_write IS NOT NULL
""",
    # The next event that orders threads after each gap's beginning.
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
    "overlapping": """
SELECT block, writer, other FROM gaps WHERE gap_begin >= gap_end
UNION ALL
SELECT block, writer, other FROM gaps JOIN ordering ON ordering.seq = gaps.gap_begin
WHERE gap_begin < gap_end AND change IS NULL AND COALESCE(next_change > gap_end, TRUE)
""",
    "present": """
SELECT block, writer AS thread FROM overlapping
UNION SELECT block, other AS thread FROM overlapping
""",
    "touches": """
SELECT touched.block AS block, address, bytes, touched.thread AS thread, site, accesses,
  CASE WHEN writing THEN accesses ELSE 0 END AS writes
FROM touched JOIN present ON present.block = touched.block AND present.thread = touched.thread
""",
}
