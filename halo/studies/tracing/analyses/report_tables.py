"""Human-readable tables of `offenders` and `sharing`: fewer columns, short paths."""

from __future__ import annotations

import os.path
from collections.abc import Iterable

from halo.studies.tracing.analyses.analysis import Table, Value

# Minimum share of the accesses of the line's first place, and of the first line's transfers.
WORTH_SHOWING = 100
LINES_WORTH_SHOWING = 1000


def offender_tables(report: Table) -> Table:
    columns = (
        *("variable", "where", "in", "accesses", "L1 misses", "last-level misses"),
        *("cycles", "share"),
    )
    rows = report.dicts()
    short = short_paths(str(row["file"]) for row in rows)
    return Table(
        columns,
        tuple(
            (
                row["variable"] or row["type"] or "?",
                f"{short[str(row['file'])]}:{row['line']}",
                row["function"],
                row["accesses"],
                row["first_missed"],
                row["last_missed"],
                row["cycles"],
                f"{int(row['permille']) / 10:.1f} %",
            )
            for row in rows
        ),
    )


def sharing_tables(report: Table) -> Table:
    place = ("line", "transfers", "sharing", "variable", "where", "in", "bytes")
    rows = report.dicts()
    leaders = {row["rank"]: int(row["accesses"]) for row in rows if row["place"] == 1}
    worst = max((int(row["transfers"]) for row in rows), default=0)
    rows = [row for row in rows if int(row["transfers"]) * LINES_WORTH_SHOWING >= worst]
    rows = [
        row
        for row in rows
        if row["place"] == 1 or int(row["accesses"]) * WORTH_SHOWING >= leaders.get(row["rank"], 0)
    ]
    short = short_paths(str(row["file"]) for row in rows)
    return Table(
        (*place, "accesses", "writes", "threads", "uniform"),
        tuple(_place_cells(row, short[str(row["file"])]) for row in rows),
    )


def _place_cells(row: dict[str, Value], file: str) -> tuple[Value, ...]:
    first = row["place"] == 1
    end = int(row["line_offset"]) + int(row["bytes"]) - 1
    return (
        f"{int(row['cache_line']):#x}" if first else "",
        f"≤ {int(row['transfers']):,}" if first else "",
        row["sharing"],
        row["variable"] or row["type"] or "?",
        f"{file}:{row['line']}",
        row["function"],
        f"{row['line_offset']}–{end}",
        row["accesses"],
        row["writes"],
        row["threads"],
        row["uniform"],
    )


def short_paths(paths: Iterable[str]) -> dict[str, str]:
    """Each path without the folder that all absolute paths have in common, but the root stays."""
    found = set(paths)
    absolute = [path for path in found if path.startswith("/")]
    if not absolute:
        return {path: path for path in found}
    common = os.path.commonpath([os.path.dirname(path) for path in absolute])
    prefix = f"{common}/" if common.strip("/") else ""
    return {path: path.removeprefix(prefix) for path in found}
