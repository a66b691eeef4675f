"""Structure splitting over a trace dataset: the SQL that counts accesses, and its evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from halo.studies.tracing.analyses.analysis import Analysis, Table, Value
from halo.studies.tracing.analyses.split.counts import PlaceUse, count_uses
from halo.studies.tracing.analyses.split.findings import findings
from halo.studies.tracing.analyses.split.split import ArrayUse, SplitResult, split_classes
from halo.studies.tracing.analyses.split.types import DeclaredClass, DeclaredField, bare


class SplitAnalysis(Analysis):
    """Counts accesses by offset in their class; `split_of` decides which fields are hot."""

    name = "split"
    summary = "classes to divide into a hot and a cold part"
    parameters: ClassVar[Mapping[str, Value]] = {}

    reduce = "SELECT site, bytes, COUNT(*) AS accesses FROM accesses GROUP BY site, bytes"

    report = """
SELECT owner, owner_id, field_offset, reduced.bytes AS bytes,
  CAST(SUM(accesses) AS BIGINT) AS accesses
FROM reduced JOIN sites ON sites.site = reduced.site
WHERE owner_id >= 0
GROUP BY owner, owner_id, field_offset, reduced.bytes
ORDER BY owner_id, field_offset, bytes, owner
"""

    details: ClassVar[Mapping[str, str]] = {
        "fields": """
SELECT owner_id, owner, owner_kind, owner_bytes, field, type, fields.offset AS field_offset,
  fields.bytes AS bytes, file, line
FROM fields ORDER BY owner_id, field_offset, bytes, field
""",
        "arrays": """
SELECT type, COUNT(*) AS allocations, MIN(elements) AS minimum, MAX(elements) AS maximum
FROM allocations JOIN all_sites AS sites ON sites.site = allocations.site
WHERE kind = 'allocation' GROUP BY type ORDER BY type
""",
    }

    def findings(self, report: Table, details: Mapping[str, Table]) -> Sequence[str]:
        result = split_of("", report, details)
        return findings(result, result.chosen())


def split_of(program: str, report: Table, details: Mapping[str, Table]) -> SplitResult:
    """The decisions from the tables of this analysis."""
    places = [
        PlaceUse(*(int(row[name]) for name in ("owner_id", "field_offset", "bytes", "accesses")))
        for row in report.dicts()
    ]
    classes = declared_classes(details["fields"])
    return split_classes(program, count_uses(classes, places), array_uses(details["arrays"]))


def declared_classes(fields: Table) -> dict[int, DeclaredClass]:
    """The classes by `owner_id`."""
    rows: dict[int, list[Mapping[str, int | str]]] = {}
    for row in fields.dicts():
        rows.setdefault(int(row["owner_id"]), []).append(row)
    return {
        owner: DeclaredClass(
            name=str(found[0]["owner"]),
            kind=str(found[0]["owner_kind"]),
            bytes=int(found[0]["owner_bytes"]),
            file=str(found[0]["file"]),
            line=int(found[0]["line"]),
            fields=tuple(
                DeclaredField(
                    name=str(row["field"]),
                    type=str(row["type"]),
                    offset=int(row["field_offset"]),
                    bytes=int(row["bytes"]),
                )
                for row in found
            ),
        )
        for owner, found in rows.items()
    }


def array_uses(arrays: Table) -> dict[str, ArrayUse]:
    """The array allocations by the name of the allocated type."""
    return {
        bare(str(row["type"])): ArrayUse(
            int(row["allocations"]), int(row["minimum"]), int(row["maximum"])
        )
        for row in arrays.dicts()
    }
