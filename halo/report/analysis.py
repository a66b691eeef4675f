"""An analysis of a trace on the page: what it found, how the trace ended, its charts and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from halo.report.blocks import Block, grid
from halo.report.ranking import offender_blocks
from halo.report.shared_lines import sharing_blocks
from halo.report.splitting import split_blocks
from halo.results.analysis import AnalysisResult
from halo.results.split import has_classes

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


@dataclass(frozen=True)
class AnalysisSection:
    """All that the template shows of an analysis."""

    anchor: str
    title: str
    program: str
    findings: Sequence[str]
    warnings: Sequence[str]
    blocks: Sequence[Block]


def analysis_section(result: AnalysisResult, index: int) -> AnalysisSection:
    """An analysis that the page does not know is a table. BadInput where a part is damaged."""
    blocks = BLOCKS.get(result.analysis, _table)
    if result.analysis == "split" and not has_classes(result):
        blocks = _table
    return AnalysisSection(
        anchor=f"analysis-{index}",
        title=TITLES.get(result.analysis, result.analysis),
        program=result.command,
        findings=result.findings,
        warnings=result.warnings,
        blocks=blocks(result),
    )


def _table(result: AnalysisResult) -> list[Block]:
    return [Block(table=grid(result.columns, result.rows))]
