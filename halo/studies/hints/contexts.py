"""Contexts of Tidy: types whose hints are values of the same fields share one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from halo.studies.hints.call import call_text
from halo.studies.hints.document import HintDimension, TypeHint

Hint = Sequence[HintDimension]
Fields = tuple[tuple[str, int], ...]
"""The type and the offset of the field of each dimension."""


def fields_of(hint: Hint) -> Fields:
    """Of a neighbour's field: where it is in the neighbour."""
    return tuple((dim.owner, dim.path[-1]) if dim.path else (dim.field, -1) for dim in hint)


def with_equal_widths(found: Sequence[TypeHint]) -> list[TypeHint]:
    """The same, but types with the same fields have the same intervals, as `with_shared_widths`."""
    hints = with_shared_widths([one.hint for one in found])
    return [_with_hint(one, hint) for one, hint in zip(found, hints, strict=True)]


def with_shared_widths(found: Sequence[Hint]) -> list[tuple[HintDimension, ...]]:
    """The same, but hints of the same fields have the same intervals: the narrowest of each.

    So their objects have equal keys if the values are equal.
    """
    widths: dict[Fields, list[float]] = {}
    for hint in found:
        own = [dim.width for dim in hint]
        widths[fields_of(hint)] = list(map(min, widths.get(fields_of(hint), own), own))
    return [
        tuple(
            HintDimension(dim.field, width, dim.owner, dim.path, dim.scalar)
            for dim, width in zip(hint, widths[fields_of(hint)], strict=True)
        )
        for hint in found
    ]


def _with_hint(one: TypeHint, hint: tuple[HintDimension, ...]) -> TypeHint:
    if not hint:
        return one
    return msgspec.structs.replace(one, hint=hint, call=call_text(one.type, hint))
