"""`halo study layout` on the page: modelled cycles of each order, and misses by level."""

from __future__ import annotations

import shlex
from pathlib import Path

from halo.base.schema.values import Cell
from halo.report.bars import BarRow, Bars, chart
from halo.report.blocks import Block, Grid, grid
from halo.report.documents import Document
from halo.report.findings import FindingsBlock
from halo.report.numbers import ratio
from halo.studies.layouts.document import LayoutDocument, Replayed
from halo.studies.layouts.orders import KIND, read_layouts
from halo.studies.layouts.table import CUT_SHORT, opening
from halo.studies.layouts.verdict import AS_RECORDED, PACKING, USUAL, judge


def read_judged(path: Path) -> LayoutDocument:
    """The result in a file; `BadInput` if it is damaged, or has no orders to compare."""
    document = read_layouts(path)
    packed = {one.order for one in document.replayed.replays if one.packing == PACKING}
    if packed <= set(USUAL) or document.replayed.replays[0].order != AS_RECORDED:
        raise KIND.damaged(path, f"it lacks the recorded layout, or other orders packed {PACKING}")
    return document


def layout_findings(document: LayoutDocument) -> FindingsBlock:
    """The verdict, the orders as bars, and all packings as a table."""
    replayed = document.replayed
    phase = f" (phase {document.phase})" if document.phase else ""
    return FindingsBlock(
        title=f"Other orders of objects{phase}",
        program=document.program,
        command=shlex.join([document.program, *document.arguments]),
        findings=[judge(replayed).sentence],
        warnings=[] if replayed.complete else [CUT_SHORT],
        blocks=[
            Block(sentences=[opening(replayed)], chart=_chart(replayed)),
            Block(table=_table(replayed)),
        ],
    )


def _chart(replayed: Replayed) -> Bars:
    """The orders of one packing, relative to the recorded layout."""
    recorded = replayed.replays[0]
    rows = []
    for one in replayed.replays:
        if one.packing in (PACKING, recorded.packing):
            value = ratio(one.cycles, recorded.cycles)
            kind = "best" if value < 1 else "loss" if value > 1 else "other"
            rows.append(BarRow(one.order, f"{value:.2f}", kind, value, value, value))
    return chart("modelled cycles of misses, recorded layout = 1", rows)


def _table(replayed: Replayed) -> Grid:
    recorded = replayed.replays[0]
    levels = list(recorded.misses)
    rows: list[list[Cell]] = [
        [
            one.order,
            one.packing,
            ratio(one.cycles, recorded.cycles),
            *(ratio(one.misses[level], recorded.misses[level]) for level in levels),
        ]
        for one in replayed.replays
    ]
    return grid(["order", "packing", "cycles", *levels], rows)


DOCUMENT = Document(KIND, lambda path: layout_findings(read_judged(path)))
