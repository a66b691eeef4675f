"""Which object began at an address, of those with contents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from halo.captured.values import Column
from halo.layouts.contents_file import Contents

Rows = npt.NDArray[np.int64]


class Births:
    """The objects by address, and those of one address in the order of their allocation."""

    def __init__(self, contents: Contents) -> None:
        self._addresses, address = np.unique(contents.addresses, return_inverse=True)
        self._numbers = np.sort(contents.numbers)
        self._steps = len(self._numbers) + 1
        births = address.astype(np.int64) * self._steps + self._rank(contents.numbers)
        self._order: Rows = np.argsort(births)
        self._sorted = births[self._order]

    def rows_at(self, column: Column, before: npt.NDArray[np.uint64]) -> Rows:
        """The row of the object that begins where each pointer points; -1: none.

        Of several at an address, it is the last one with a smaller number than `before`, which has
        an allocation number for each pointer.
        """
        at = np.searchsorted(self._addresses, column.bits)
        inside = np.minimum(at, len(self._addresses) - 1)
        is_known = column.present & (self._addresses[inside] == column.bits)
        last = np.searchsorted(self._sorted, inside * self._steps + self._rank(before)) - 1
        found = np.maximum(last, 0)
        is_known &= (last >= 0) & (self._sorted[found] // self._steps == inside)
        return np.where(is_known, self._order[found], -1)

    def _rank(self, numbers: npt.NDArray[np.uint64]) -> Rows:
        return np.searchsorted(self._numbers, numbers)
