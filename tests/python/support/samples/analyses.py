"""Documents of analyses, as `--json` writes them."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from halo.studies.tracing.analyses import Request, find_analysis, open_folder, run_analysis
from halo.studies.tracing.analyses.documents import answer_document, json_text
from halo.studies.tracing.analyses.split.analysis import split_of
from halo.studies.tracing.analyses.split.document import split_document
from halo.studies.tracing.document import Analysis
from support.samples.split import arcs_and_nodes
from support.samples.trace import SampleTrace, counters, scan_of_wide_structures

TRACES = {
    "offenders": scan_of_wide_structures,
    "sharing": lambda: counters(atomic=True),
    "split": arcs_and_nodes,
}


def analysed(name: str, trace: SampleTrace, folder: Path, **more: Any) -> dict[str, Any]:
    """The JSON of an analysis of that trace."""
    columns = open_folder(trace.write(folder / "columns", **more))
    answer = run_analysis(find_analysis(name), columns, Request(folder))
    if name != "split":
        return as_json(answer_document(answer))
    result = split_of(answer.about.program, answer.report, answer.details)
    return as_json(split_document(answer, result, result.chosen()))


def as_json(document: Analysis) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json_text(document))
    return found


@cache
def documents() -> dict[str, dict[str, Any]]:
    """One of each analysis, by its name."""
    with tempfile.TemporaryDirectory(prefix="halo-analyses-") as scratch:
        folders = {name: Path(scratch) / name for name in TRACES}
        for folder in folders.values():
            folder.mkdir()
        return {name: analysed(name, TRACES[name](), folders[name]) for name in TRACES}


def kept(raw: Any, path: Path) -> Path:
    path.write_text(raw if isinstance(raw, str) else json.dumps(raw))
    return path
