"""Renders a splitting result as JSON for `halo report` and `halo plot`, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from halo.studies.tracing.analyses.documents import answer_document
from halo.studies.tracing.analyses.runner import Answer
from halo.studies.tracing.analyses.split.findings import findings, gain, hot_threshold, reason
from halo.studies.tracing.analyses.split.layout import per_line
from halo.studies.tracing.analyses.split.split import ClassSplit, SplitResult
from halo.studies.tracing.analyses.split.types import gaps
from halo.studies.tracing.document import Analysis, SplitClass

COLUMNS = ("class", "field", "type", "offset", "bytes", "accesses", "share", "part")
HOT, COLD, PADDING = "hot", "cold", "padding"


def split_document(answer: Answer, result: SplitResult, shown: Sequence[ClassSplit]) -> Analysis:
    """The JSON of an answer, with the fields in place of the counts."""
    return replace(
        answer_document(answer),
        details={},
        columns=COLUMNS,
        rows=tuple(tuple(row) for found in shown for row in field_rows(found)),
        findings=tuple(findings(result, list(shown))),
        accesses=result.accesses,
        accessed_classes=result.accessed,
        classes=tuple(_class(found, result) for found in shown),
    )


def field_rows(found: ClassSplit) -> list[list[Any]]:
    """A row for each field and each padding hole, ascending by offset in bytes.

    `share` is of the class's accesses; `part` is empty if the class is not marked.
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


def split_csv(chosen: Sequence[ClassSplit]) -> str:
    """The rows of the fields as CSV, with a heading."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row for found in chosen for row in field_rows(found))
    return stream.getvalue()


def _class(found: ClassSplit, result: SplitResult) -> SplitClass:
    declared, parts, decision = found.use.declared, found.parts, found.decision
    document = SplitClass(
        label=found.label,
        kind=declared.kind,
        file=declared.file,
        line=declared.line,
        bytes=declared.bytes,
        accesses=found.use.total,
        live=decision.live,
        split=decision.split,
        finding=decision.finding.value,
        reason=reason(found, result),
        hot_from=round(hot_threshold(found), 1) if decision.divisor else None,
        per_line=round(per_line(declared.bytes), 3),
        allocations=found.arrays.allocations,
        largest_array=found.arrays.maximum,
    )
    if parts is None:
        return document
    return replace(
        document,
        hot_bytes=parts.hot_bytes,
        cold_bytes=parts.cold_bytes,
        hot_per_line=round(per_line(parts.hot_bytes), 3),
        indirect=found.indirect,
        gain=gain(found),
        suggestion=found.suggestion,
    )
