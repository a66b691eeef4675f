"""Structure splitting on the page: the weights of the fields, and the suggested structures."""

from __future__ import annotations

from halo.report.bars import BarRow, Bars, chart
from halo.report.blocks import Block, grid
from halo.report.numbers import number
from halo.studies.tracing.results import AnalysisResult
from halo.studies.tracing.split import ClassWeights, FieldWeight, split_classes_of

MAX_BARS = 40


def split_blocks(result: AnalysisResult) -> list[Block]:
    """A block for each class, split classes first."""
    found = sorted(split_classes_of(result), key=lambda it: not it.found.split)
    return [_block(weights) for weights in found]


def _block(weights: ClassWeights) -> Block:
    found = weights.found
    sentences = [f"{found.bytes} bytes, {found.accesses:,} accesses, declared at {found.place}."]
    sentences.append(f"{(found.reason[:1].upper() + found.reason[1:]).rstrip('.')}.")
    columns = ("offset", "bytes", "field", "type", "accesses", "part")
    rows = [(f.offset, f.bytes, f.name, f.type, f.accesses, _part(f)) for f in weights.fields]
    return Block(
        title=found.label,
        sentences=[found.gain, *sentences] if found.gain else sentences,
        chart=_fields_chart(weights),
        text=found.suggestion or "",
        table=grid(columns, rows),
        folded=f"The {len(rows)} fields",
    )


def _fields_chart(weights: ClassWeights) -> Bars | None:
    shown = weights.fields
    if len(shown) > MAX_BARS:
        maximum = sorted(shown, key=lambda field: -field.accesses)[:MAX_BARS]
        shown = tuple(sorted(maximum, key=lambda field: field.offset))
    if not shown:
        return None
    total = max(weights.found.accesses, 1)
    bars = []
    for field in shown:
        share = 100 * field.accesses / total
        text = f"{number(field.accesses)} {_part(field)}".strip()
        bars.append(BarRow(field.name, text, _part(field) or "unmarked", share, share, share))
    return chart("accesses to the field, per cent of the class's", bars)


def _part(field: FieldWeight) -> str:
    return "" if field.cold is None else "cold" if field.cold else "hot"
