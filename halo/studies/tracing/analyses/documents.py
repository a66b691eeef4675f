"""Renders an answer as CSV and as JSON, for other programs and for the report's page."""

from __future__ import annotations

import csv
import io
import json

from msgspec import to_builtins

from halo.studies.tracing.analyses.analysis import Table
from halo.studies.tracing.analyses.runner import Answer
from halo.studies.tracing.document import AnalysedTrace
from halo.studies.tracing.document import Analysis as AnalysisDocument
from halo.studies.tracing.document import Table as Detail


def csv_text(table: Table) -> str:
    """The table as CSV with a heading; lines end in a newline alone."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def answer_document(answer: Answer) -> AnalysisDocument:
    """The JSON of an answer."""
    about = answer.about
    return AnalysisDocument(
        analysis=answer.analysis,
        program=about.program,
        trace=AnalysedTrace(
            arguments=tuple(about.arguments),
            build_id=about.build_id,
            events=about.events,
            lost=about.lost,
            ending=about.ending,
            detail=about.detail,
        ),
        machine=about.machine,
        columns=answer.report.columns,
        rows=answer.report.rows,
        details={name: Detail(it.columns, it.rows) for name, it in answer.details.items()},
        findings=answer.findings,
    )


def json_text(document: AnalysisDocument) -> str:
    """As it is written."""
    return json.dumps(to_builtins(document), indent=1) + "\n"
