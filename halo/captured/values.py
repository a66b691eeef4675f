"""Columns of values: what the fields of recorded objects held soon after their allocation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from halo.captured.sites import Field
from halo.layouts.contents_file import Contents

Numbers = npt.NDArray[np.float64]
Raw = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

MOST = 0.95
"""Share of the values that must look like a type."""
MIN_POINTS = 0.9
"""Share of a field's values other than 0 that must be within the heap for a pointer."""
_SMALLEST, _LARGEST = 1e-30, 1e30
"""Magnitudes of plausible real numbers other than 0. Small whole numbers, read as reals, are
smaller, and pointers are, too."""


@dataclass(frozen=True)
class Column:
    """A field of each object: its bits, whether it was read, and its type.

    `kind` is one of `halo.plan.hints.rules.KINDS`, or empty for a pointer.
    """

    field: Field
    bits: Raw
    present: Mask
    kind: str

    @property
    def is_pointer(self) -> bool:
        return not self.kind

    @property
    def numbers(self) -> Numbers:
        """The values, NaN where they were not read, shape (objects)."""
        return np.where(self.present, decoded(self.bits, self.kind or "u64"), np.nan)


def column_of(field: Field, contents: Contents, rows: npt.NDArray[np.int64]) -> Column:
    """The field of these objects, which are rows of the contents."""
    as_bytes = np.ascontiguousarray(contents.words[rows]).view(np.uint8)
    part = np.zeros((len(rows), 8), np.uint8)
    end = field.offset + field.width
    if end <= as_bytes.shape[1]:
        part[:, : field.width] = as_bytes[:, field.offset : end]
    bits = part.view("<u8")[:, 0]
    present = contents.counts[rows].astype(np.int64) * 8 >= end
    low, high = int(contents.addresses.min()), int(contents.addresses.max())
    return Column(field, bits, present, _kind(bits[present], field.width, low, high))


def halves_of(field: Field, contents: Contents, rows: npt.NDArray[np.int64]) -> list[Field]:
    """The halves of a word, unless it is a pointer, a real or a small number: none then.

    Compilers copy two fields of 4 bytes as one word.
    """
    if field.width != 8:
        return []
    column = column_of(field, contents, rows)
    high = column.bits[column.present] >> np.uint64(32)
    is_small = not len(high) or bool((high == high[0]).all())
    if column.kind != "i64" or is_small:
        return []
    return [Field(field.offset, 4), Field(field.offset + 4, 4)]


def decoded(bits: Raw, kind: str) -> Numbers:
    """The values of that kind in the low bytes, shape (objects)."""
    width = int(kind[1:]) // 8
    dtype = np.dtype(f"<{kind[0]}{width}")
    low = np.ascontiguousarray(bits).view(np.uint8).reshape(-1, 8)[:, :width]
    with np.errstate(invalid="ignore"):
        return np.ascontiguousarray(low).view(dtype)[:, 0].astype(np.float64)


def _kind(bits: Raw, width: int, low: int, high: int) -> str:
    given = bits[bits != 0]
    if width == 8 and len(given):
        inside = (given >= low) & (given <= high)
        if inside.mean() >= MIN_POINTS:
            return ""
    if width in (4, 8) and _are_real(bits, f"f{8 * width}"):
        return f"f{8 * width}"
    return f"i{8 * width}"


def _are_real(bits: Raw, kind: str) -> bool:
    numbers = decoded(bits[bits != 0], kind)
    if not len(numbers):
        return False
    size = np.abs(numbers)
    return bool(((size > _SMALLEST) & (size < _LARGEST)).mean() >= MOST)
