"""Structure splitting on the page: the weights of the fields, and what to write instead."""

from __future__ import annotations

from halo.report.bars import Bars, Row, chart
from halo.report.blocks import Block, grid
from halo.report.numbers import number
from halo.results.analysis import AnalysisResult
from halo.results.split import FieldWeight, SplitClass, split_classes_of

MOST_BARS = 40


def split_blocks(result: AnalysisResult) -> list[Block]:
    """A block for each class, those that are split first."""
    return [
        _block(found) for found in sorted(split_classes_of(result), key=lambda it: not it.split)
    ]


def _block(found: SplitClass) -> Block:
    sentences = [f"{found.bytes} bytes, {found.accesses:,} accesses, declared at {found.place}."]
    sentences.append(f"{(found.reason[:1].upper() + found.reason[1:]).rstrip('.')}.")
    columns = ("offset", "bytes", "field", "type", "accesses", "part")
    rows = [(f.offset, f.bytes, f.name, f.type, f.accesses, _part(f)) for f in found.fields]
    return Block(
        title=found.label,
        sentences=[found.gain, *sentences] if found.gain else sentences,
        chart=_fields_chart(found),
        text=found.suggestion,
        table=grid(columns, rows),
        folded=f"The {len(rows)} fields",
    )


def _fields_chart(found: SplitClass) -> Bars | None:
    shown = found.fields
    if len(shown) > MOST_BARS:
        most = sorted(shown, key=lambda field: -field.accesses)[:MOST_BARS]
        shown = tuple(sorted(most, key=lambda field: field.offset))
    if not shown:
        return None
    total = max(found.accesses, 1)
    bars = []
    for field in shown:
        share = 100 * field.accesses / total
        text = f"{number(field.accesses)} {_part(field)}".strip()
        bars.append(Row(field.name, text, _part(field) or "unmarked", share, share, share))
    return chart("accesses to the field, per cent of the class's", bars)


def _part(field: FieldWeight) -> str:
    return "" if field.cold is None else "cold" if field.cold else "hot"
