"""`halo study eval predict` on the page: modelled cycles and misses under each plan."""

from __future__ import annotations

import shlex
from pathlib import Path

from halo.base.schema.document import DocumentKind, load
from halo.base.schema.values import Cell
from halo.report.bars import BarRow, Bars, chart
from halo.report.blocks import Block, grid
from halo.report.documents import Document
from halo.report.findings import FindingsBlock
from halo.report.numbers import ratio
from halo.studies.search.document import FORMAT, VERSION, PredictionDocument

KIND = DocumentKind(
    FORMAT,
    VERSION,
    PredictionDocument,
    name="a result of halo study eval predict",
    give="give a file that halo study eval predict --json wrote",
    again="run halo study eval predict again",
)


def read_predictions(path: Path) -> PredictionDocument:
    """The result in a file; `BadInput` if it is damaged."""
    document = load(path, KIND)
    if not document.plans:
        raise KIND.damaged(path, "it has no plans")
    levels = tuple(document.without.misses)
    if any(tuple(one.misses) != levels for one in document.plans.values()):
        raise KIND.damaged(path, "its plans have different levels")
    return document


def prediction_findings(document: PredictionDocument) -> FindingsBlock:
    """The plan with the fewest modelled cycles, the plans as bars, and misses as a table."""
    without = document.without
    levels = list(without.misses)
    rows: list[list[Cell]] = [
        [
            name,
            ratio(one.cycles, without.cycles),
            *(ratio(one.misses[level], without.misses[level]) for level in levels),
            one.peak_bytes,
        ]
        for name, one in document.plans.items()
    ]
    best, found = min(document.plans.items(), key=lambda it: it[1].cycles)
    return FindingsBlock(
        title="Predicted misses under plans",
        program=document.program,
        command=shlex.join([document.program, *document.arguments]),
        findings=[
            f"{Path(best).name} has {ratio(found.cycles, without.cycles):.2f} times the modelled"
            " cycles of misses that the program has without a plan."
        ],
        warnings=[],
        blocks=[
            Block(
                sentences=[
                    f"{document.trace.kept:,} of {document.trace.accesses:,} accesses were replayed"
                    ". Figures are relative to the program without a plan."
                ],
                chart=_chart(document),
                table=grid(["plan", "cycles", *levels, "peak bytes"], rows),
            )
        ],
    )


def _chart(document: PredictionDocument) -> Bars:
    rows = []
    for name, one in document.plans.items():
        value = ratio(one.cycles, document.without.cycles)
        kind = "best" if value < 1 else "loss" if value > 1 else "other"
        rows.append(BarRow(Path(name).name, f"{value:.2f}", kind, value, value, value))
    return chart("modelled cycles of misses, no plan = 1", rows)


DOCUMENT = Document(KIND, lambda path: prediction_findings(read_predictions(path)))
