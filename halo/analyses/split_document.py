"""The result of splitting as the JSON that `halo report` and `halo plot` read, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from halo.analyses.documents import answer_document
from halo.analyses.running import Answer
from halo.analyses.split import ClassSplit, SplitResult
from halo.analyses.split_layout import per_line
from halo.analyses.split_types import gaps
from halo.analyses.split_words import findings, gain, least, reason

COLUMNS = ("class", "field", "type", "offset", "bytes", "accesses", "share", "part")
HOT, COLD, PADDING = "hot", "cold", "padding"


def split_document(
    answer: Answer, result: SplitResult, shown: Sequence[ClassSplit]
) -> dict[str, Any]:
    """The JSON of docs/analyses.md: of an answer, with the fields in place of the counts."""
    return {
        **answer_document(answer),
        "details": {},
        "columns": list(COLUMNS),
        "rows": [row for found in shown for row in field_rows(found)],
        "findings": findings(result, list(shown)),
        "accesses": result.accesses,
        "accessed_classes": result.accessed,
        "classes": [_class(found, result) for found in shown],
    }


def field_rows(found: ClassSplit) -> list[list[Any]]:
    """A row for each field and each hole, ascending by offset.

    `share` is of the class's accesses; `part` is empty where the class is not marked.
    """
    use, total = found.use, max(found.use.total, 1)
    rows: list[list[Any]] = []
    for leaf, accesses, cold in zip(use.leaves, use.accesses, found.decision.cold, strict=True):
        part = (COLD if cold else HOT) if found.decision.divisor else ""
        share = round(accesses / total, 6)
        rows.append(
            [found.label, leaf.name, leaf.type, leaf.offset, leaf.bytes, accesses, share, part]
        )
    for offset, size in gaps(use.leaves, use.declared.bytes):
        rows.append([found.label, "", "", offset, size, 0, 0.0, PADDING])
    return sorted(rows, key=lambda row: (row[3], row[4]))


def split_csv(shown: Sequence[ClassSplit]) -> str:
    """The rows of the fields as CSV, with the columns' names first."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row for found in shown for row in field_rows(found))
    return stream.getvalue()


def _class(found: ClassSplit, result: SplitResult) -> dict[str, Any]:
    declared, parts, decision = found.use.declared, found.parts, found.decision
    document: dict[str, Any] = {
        "class": found.label,
        "kind": declared.kind,
        "file": declared.file,
        "line": declared.line,
        "bytes": declared.bytes,
        "accesses": found.use.total,
        "live": decision.live,
        "split": decision.split,
        "finding": decision.finding.value,
        "reason": reason(found, result),
        "hot_from": round(least(found), 1) if decision.divisor else None,
        "per_line": round(per_line(declared.bytes), 3),
        "allocations": found.arrays.allocations,
        "largest_array": found.arrays.most,
    }
    if parts is not None:
        document |= {
            "hot_bytes": parts.hot_bytes,
            "cold_bytes": parts.cold_bytes,
            "hot_per_line": round(per_line(parts.hot_bytes), 3),
            "indirect": found.indirect,
            "gain": gain(found),
            "suggestion": found.suggestion,
        }
    return document
