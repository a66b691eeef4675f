"""Writes tables as Markdown, CSV, plain text and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TABLES = ("md", "csv", "txt", "json")


@dataclass(frozen=True)
class Table:
    """Human-readable titles and cells, and the same as records for programs.

    The first `names` columns are words, all others figures. `records` have the same keys.
    """

    titles: Sequence[str]
    cells: Sequence[Sequence[str]]
    records: Sequence[Mapping[str, Any]]
    names: int = 1

    def to_file(self, ending: str) -> bytes:
        """The content of the file in the format of `ending`, one of TABLES."""
        writers = {"md": _markdown, "csv": _csv, "txt": _text, "json": _json}
        return writers[ending](self).encode("utf-8", "replace")


def _markdown(table: Table) -> str:
    rule = ["---"] * table.names + ["---:"] * (len(table.titles) - table.names)
    lines = [table.titles, rule, *table.cells]
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def _text(table: Table) -> str:
    lines = [table.titles, *table.cells]
    columns = range(len(table.titles))
    widths = [max(len(line[column]) for line in lines) for column in columns]
    text = ""
    for line in lines:
        names = [line[column].ljust(widths[column]) for column in columns[: table.names]]
        figures = [line[column].rjust(widths[column]) for column in columns[table.names :]]
        text += "  ".join([*names, *figures]) + "\n"
    return text


def _csv(table: Table) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(table.records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.records)
    return stream.getvalue()


def _json(table: Table) -> str:
    return json.dumps(list(table.records), indent=2) + "\n"
