"""Contexts of Tidy: types whose hints are values of the same fields share one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from halo.hints.call import call_text
from halo.schema.hints import HintDimension, TypeHint

Fields = tuple[tuple[str, int], ...]
"""The type and the offset of the field of each dimension."""


def fields_of(one: TypeHint) -> Fields:
    """Of a neighbour's field: where it is in the neighbour."""
    return tuple((dim.owner, dim.path[-1]) if dim.path else (dim.field, -1) for dim in one.hint)


def with_equal_widths(found: Sequence[TypeHint]) -> list[TypeHint]:
    """The same, but types with the same fields have the same intervals: the narrowest of each.

    So their objects have equal keys if the values are equal.
    """
    widths: dict[Fields, list[float]] = {}
    for one in found:
        own = [dim.width for dim in one.hint]
        widths[fields_of(one)] = list(map(min, widths.get(fields_of(one), own), own))
    return [_with_widths(one, widths[fields_of(one)]) for one in found]


def _with_widths(one: TypeHint, widths: Sequence[float]) -> TypeHint:
    if not one.hint:
        return one
    hint = tuple(
        HintDimension(dim.field, width, dim.owner, dim.path, dim.scalar)
        for dim, width in zip(one.hint, widths, strict=True)
    )
    return msgspec.structs.replace(one, hint=hint, call=call_text(one.type, hint))
