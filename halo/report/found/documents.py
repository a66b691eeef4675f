"""The files that the page shows beside measurements, by their formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from halo.report.found.analysis import analysis_findings
from halo.report.found.findings import Findings
from halo.report.found.hints import hints_findings
from halo.report.found.layouts import layout_findings, read_judged
from halo.report.found.predictions import KIND as PREDICTION
from halo.report.found.predictions import prediction_findings, read_predictions
from halo.results import hints, orders
from halo.results.analysis import ANALYSIS, read_analysis
from halo.schema.document import Kind, is_of

Reader = Callable[[Path], Findings]

# To show another document, add its module and one line here.
READERS: Sequence[tuple[Kind[Any], Reader]] = (
    (ANALYSIS, lambda path: analysis_findings(read_analysis(path))),
    (orders.KIND, lambda path: layout_findings(read_judged(path))),
    (hints.KIND, lambda path: hints_findings(hints.read_hints(path))),
    (PREDICTION, lambda path: prediction_findings(read_predictions(path))),
)


def reader_of(path: Path) -> Reader | None:
    """What reads that file; None if it is no such document."""
    return next((reader for kind, reader in READERS if is_of(path, kind)), None)
