"""`halo study hints` on the page: the verdict about each type, and what its fields predict."""

from __future__ import annotations

import shlex

from halo.base.schema.values import Cell
from halo.report.bars import BarRow, Bars, chart
from halo.report.blocks import Block, grid
from halo.report.documents import Document
from halo.report.findings import FindingsBlock
from halo.studies.hints.document import HintsDocument, TypeHint
from halo.studies.hints.results import KIND, read_hints
from halo.studies.hints.table import CUT_SHORT, learnt_sentence, unseen_sentence

MAX_FEATURES = 12
DIGITS = 3
NOISE = "noise"


def hints_findings(document: HintsDocument) -> FindingsBlock:
    """A sentence for each type that was judged, and a part for each that was learnt from."""
    overview: list[list[Cell]] = [
        [one.type, one.objects, one.accesses, one.verdict or one.why] for one in document.types
    ]
    return FindingsBlock(
        title="Hints for an allocator",
        program=document.program,
        command=shlex.join([document.program, *document.arguments]),
        findings=[f"{one.type}: {one.verdict}. {one.why}" for one in document.types if one.verdict],
        warnings=[] if document.complete else [CUT_SHORT],
        blocks=[
            Block(table=grid(["type", "objects", "accesses", "verdict"], overview)),
            *(_block(one) for one in document.types if one.features),
        ],
    )


def _block(one: TypeHint) -> Block:
    sentences = [learnt_sentence(one)]
    if one.unseen:
        sentences.append(unseen_sentence(one))
    rows: list[list[Cell]] = [
        [
            feature.name,
            feature.group,
            *(
                round(value, DIGITS)
                for value in (
                    feature.known_share,
                    feature.permutation,
                    feature.gini,
                    feature.coverage,
                )
            ),
        ]
        for feature in one.features
    ]
    columns = ["feature", "group", "known at birth", "permutation", "gini", "coverage"]
    call = f"{', '.join(one.places)}:\n{one.call}" if one.call else ""
    return Block(
        title=one.type, sentences=sentences, chart=_chart(one), text=call, table=grid(columns, rows)
    )


def _chart(one: TypeHint) -> Bars:
    ranked = sorted(one.features, key=lambda it: -it.gini)[:MAX_FEATURES]
    rows = [
        BarRow(
            it.name,
            f"{it.gini:.3f}{'' if it.at_birth or it.group == NOISE else ' not known at birth'}",
            "best" if it.at_birth else "other",
            it.gini,
            it.gini,
            it.gini,
        )
        for it in ranked
    ]
    return chart("gini importance", rows)


DOCUMENT = Document(KIND, lambda path: hints_findings(read_hints(path)))
