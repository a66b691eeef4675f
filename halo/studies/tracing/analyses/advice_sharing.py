"""Advice on shared lines: padding against false sharing, private copies against true sharing."""

from __future__ import annotations

from collections.abc import Sequence

from halo.studies.tracing.analyses.analysis import Table, Value
from halo.studies.tracing.analyses.schema import LINE_SHIFT

LINE = 1 << LINE_SHIFT
MAX_SENTENCES = 3
WORTH_SAYING = 50  # a line of at least a fiftieth of the worst one's transfers
RARE = 10_000  # events per transfer: above, sharing does not limit the program
OFTEN_WRITTEN = 8  # a variable with at least one write in eight accesses


def advise(report: Table, totals: Table) -> Sequence[str]:
    """One or two sentences on each of the worst lines."""
    (total,) = totals.dicts()
    if 0 < int(total["transfers"]) * RARE < int(total["events"]):
        return [
            f"Lines moved between threads at most {total['transfers']:,} times in"
            f" {total['events']:,} events: sharing costs this run next to nothing."
        ]
    rows = report.dicts()
    leaders = [row for row in rows if row["place"] == 1][:MAX_SENTENCES]
    worst = max((int(row["transfers"]) for row in leaders), default=0)
    return [
        f"{_what(row)} {_suggestion(row, [r for r in rows if r['rank'] == row['rank']])}"
        for row in leaders
        if int(row["transfers"]) * WORTH_SAYING >= worst
    ]


def name_of(row: dict[str, Value]) -> str:
    """The variable and its line in the source."""
    return f"{row['variable'] or row['type'] or 'An access'} at {row['file']}:{row['line']}"


def _what(row: dict[str, Value]) -> str:
    lines = int(row["lines"])
    where = "its cache line" if lines == 1 else f"its {lines} cache lines"
    return (
        f"{name_of(row)} (in {row['function'] or '?'}): {row['line_threads']} threads share"
        f" {where}, which moved between them up to {int(row['transfers']):,} times."
    )


def _suggestion(leader: dict[str, Value], places: list[dict[str, Value]]) -> str:
    others = [row for row in places if row["variable"] != leader["variable"]]
    if leader["sharing"] == "false":
        if int(leader["threads"]) > 1:
            return (
                "False sharing: each thread uses other bytes of it. Give each thread's part a line"
                f" of its own (alignas({LINE}), or elements of {LINE} bytes)."
            )
        beside = _names(others)
        return (
            f"False sharing: other threads use bytes beside it{f' ({beside})' if beside else ''}."
            f" Separate them: alignas({LINE}), or a separate structure for the fields of other"
            " threads."
        )
    same = [row for row in places if row["variable"] == leader["variable"]]
    alone = int(leader["line_writers"]) == 1 or sum(int(row["writers"]) for row in same) == 1
    return f"True sharing: {_remedy(leader, alone)}{_victims(others)}"


def _remedy(leader: dict[str, Value], alone: bool) -> str:
    if alone:
        return (
            "one thread writes it, and others read it meanwhile. Let it collect changes and write"
            " less often, or let the others keep a copy and refresh it less often."
        )
    if int(leader["writes"]) * OFTEN_WRITTEN < int(leader["accesses"]):
        return (
            "most accesses read it. Let each thread keep a copy and refresh it less often, or"
            " write it only when it changes."
        )
    if str(leader["type"]).rstrip().endswith("*"):
        return "the threads alternate. Let each work on a part of its own, or in batches."
    return "several write the same bytes. Count separately in each thread, and add up on reading."


def _victims(others: list[dict[str, Value]]) -> str:
    victims = [row for row in others if row["sharing"] == "false"]
    if not victims:
        return ""
    return f" It also moves {_names(victims)}, on the same line: align it to {LINE} bytes."


def _names(rows: list[dict[str, Value]]) -> str:
    names = list(dict.fromkeys(str(row["variable"]) for row in rows if row["variable"]))
    return ", ".join(names[:3])
