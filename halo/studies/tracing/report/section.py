"""The section of a trace analysis: findings, the state of the trace, charts and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from halo.report.blocks import Block, grid
from halo.report.documents import Document
from halo.report.findings import FindingsBlock
from halo.studies.tracing.report.ranking import offender_blocks
from halo.studies.tracing.report.shared_lines import sharing_blocks
from halo.studies.tracing.report.split import split_blocks
from halo.studies.tracing.results import ANALYSIS, AnalysisResult, read_analysis
from halo.studies.tracing.split import has_classes

TITLES = {
    "offenders": "Cache offenders",
    "sharing": "Variables shared by threads",
    "split": "Structure splitting",
}
BLOCKS: Mapping[str, Callable[[AnalysisResult], list[Block]]] = {
    "offenders": offender_blocks,
    "sharing": sharing_blocks,
    "split": split_blocks,
}


def analysis_findings(result: AnalysisResult) -> FindingsBlock:
    """The section; an unknown analysis is a table. Raises `BadInput` if a part is damaged."""
    blocks = BLOCKS.get(result.document.analysis, _table)
    if result.document.analysis == "split" and not has_classes(result):
        blocks = _table
    return FindingsBlock(
        title=TITLES.get(result.document.analysis, result.document.analysis),
        program=result.document.program,
        command=result.command,
        findings=result.document.findings,
        warnings=result.warnings,
        blocks=blocks(result),
    )


def _table(result: AnalysisResult) -> list[Block]:
    return [Block(table=grid(result.columns, result.rows))]


DOCUMENT = Document(ANALYSIS, lambda path: analysis_findings(read_analysis(path)))
