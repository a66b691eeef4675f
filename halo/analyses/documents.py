"""An answer as CSV and as JSON, for other programs and for the report's page."""

from __future__ import annotations

import csv
import io
from typing import Any

from halo.analyses.analysis import Table, Value
from halo.analyses.running import Answer

FORMAT = "halo-analysis"
VERSION = 1


def csv_text(table: Table) -> str:
    """The table as CSV with a heading, lines ended by a newline alone."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def answer_document(answer: Answer) -> dict[str, Any]:
    """The JSON of docs/analyses.md."""
    about = answer.about
    return {
        "format": FORMAT,
        "version": VERSION,
        "analysis": answer.analysis,
        "program": about.program,
        "trace": {
            "arguments": list(about.arguments),
            "build_id": about.build_id,
            "events": about.events,
            "lost": about.lost,
            "ending": about.ending,
            "detail": about.detail,
        },
        "machine": about.machine,
        "columns": list(answer.report.columns),
        "rows": [list(row) for row in answer.report.rows],
        "details": {name: _plain(table) for name, table in answer.details.items()},
        "findings": list(answer.findings),
    }


def _plain(table: Table) -> dict[str, list[Any]]:
    rows: list[list[Value]] = [list(row) for row in table.rows]
    return {"columns": list(table.columns), "rows": rows}
