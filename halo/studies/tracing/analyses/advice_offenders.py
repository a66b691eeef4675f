"""Advice on the worst offenders: which part of each fetched cache line a function uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halo.studies.tracing.analyses.analysis import Table, Value
from halo.studies.tracing.analyses.schema import LINE_SHIFT

LINE = 1 << LINE_SHIFT
MAX_SENTENCES = 3
WORTH_SAYING = 50  # of a thousand cycles of all misses
CHEAP = 5  # accesses per cycle of misses: above, caches do not limit the program
DEAR = 2  # cycles of misses per access: below, a change does not pay
USED_WITH = 10  # a field belongs to the same loop if accessed at least this fraction as often


@dataclass(frozen=True)
class Use:
    """The fields of a structure that a function uses, how many bytes they have, in which lines.

    The number of lines is that of a structure which begins with a line.
    """

    owner_bytes: int
    fields: tuple[str, ...]
    bytes: int
    lines: int

    @property
    def of_each_line(self) -> int:
        """Bytes of a fetched line that the function uses."""
        if self.owner_bytes >= LINE:
            return self.bytes // max(self.lines, 1)
        return LINE * self.bytes // max(self.owner_bytes, 1)


def advise(report: Table, used: Table, totals: Table) -> Sequence[str]:
    """One or two sentences on each row whose share of the modelled cost is significant."""
    (total,) = totals.dicts()
    if 0 < int(total["cycles"]) * CHEAP < int(total["accesses"]):
        return [
            f"Only {total['first_missed']:,} of {total['accesses']:,} accesses miss the first level"
            f" and {total['last_missed']:,} the last: the caches hold the data of this run. Trace a"
            " larger input, or simulate a smaller machine, to learn more."
        ]
    found = []
    for row in report.dicts()[:MAX_SENTENCES]:
        expensive = int(row["cycles"]) >= DEAR * int(row["accesses"])
        if expensive and int(row["permille"]) >= WORTH_SAYING:
            found.append(f"{_share(row)} {_suggestion(row, _use(row, used))}".strip())
    return found


def _share(row: dict[str, Value]) -> str:
    permille = int(row["permille"])
    share = f"{permille // 10}.{permille % 10} %"
    return (
        f"{row['variable'] or row['type'] or 'An access'} at {row['file']}:{row['line']}"
        f" (in {row['function'] or '?'}) takes {share} of the modelled cost of all misses"
        f" ({row['first_missed']:,} miss the first level, {row['last_missed']:,} the last)."
    )


def _use(row: dict[str, Value], used: Table) -> Use | None:
    """The fields that the row's function uses of the structure that the row's field belongs to."""
    if not row["owner"]:
        return None
    places = ("owner", "function", "file")
    same = [item for item in used.dicts() if all(item[key] == row[key] for key in places)]
    often = [item for item in same if int(item["accesses"]) * USED_WITH >= int(row["accesses"])]
    if not often:
        return None
    size = max(int(item["owner_bytes"]) for item in often)
    touched: set[int] = set()
    for item in often:
        begin = int(item["field_offset"])
        touched |= set(range(begin, min(begin + int(item["bytes"]), size)))
    fields = tuple(dict.fromkeys(str(item["field"]) for item in often if item["field"]))
    return Use(size, fields, len(touched), len({byte // LINE for byte in touched}))


def _suggestion(row: dict[str, Value], use: Use | None) -> str:
    if use is None or not use.bytes:
        return ""
    names = " and ".join(use.fields) or str(row["variable"])
    if use.of_each_line * 2 <= LINE:
        return (
            f"Each miss brings a line of {LINE} bytes, of which this code uses"
            f" {use.of_each_line}: {row['owner']} has {use.owner_bytes} bytes, and"
            f" {row['function']} uses {use.bytes} of them ({names}). Keep {names} in an array of"
            f" {'its' if len(use.fields) < 2 else 'their'} own, or move the rest out"
            " (halo study trace split)."
        )
    if str(row["type"]).rstrip().endswith("*"):
        return (
            f"This code uses {use.bytes} of the {use.owner_bytes} bytes of {row['owner']}, and"
            " follows a pointer: place the objects in the order of their use (halo run)."
        )
    return (
        f"This code uses {use.bytes} of the {use.owner_bytes} bytes of {row['owner']}: splitting it"
        " would not help; smaller fields or another order of the accesses would."
    )
