"""The allocator call that passes a hint, with the width of its cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from halo.studies.hints.document import HintDimension

if TYPE_CHECKING:
    from halo.studies.hints.features import Feature

INTERVAL_BYTES = 256
"""Memory of the objects in one interval; cells of Tidy adapt, and are larger."""
MARGIN = 0.01
"""Share of the values at each end that does not count for their range."""


def dimensions_of(features: Sequence[Feature], total_bytes: int) -> tuple[HintDimension, ...]:
    """The hint's dimensions, with intervals of equal width; as `interval_widths`."""
    widths = interval_widths([one.values for one in features], total_bytes)
    return tuple(
        HintDimension(one.name, width, one.place.owner, one.place.path, one.place.scalar)
        for one, width in zip(features, widths, strict=True)
    )


def interval_widths(
    columns: Sequence[npt.NDArray[np.float64]], total_bytes: int
) -> tuple[float, ...]:
    """The width of the intervals of each dimension, whose values have shape (objects).

    All objects that are not arrays fill `total_bytes`. Each dimension has an equal number of
    intervals, so that an interval has INTERVAL_BYTES of objects if values are uniform.
    """
    intervals = max(1.0, total_bytes / INTERVAL_BYTES)
    along = max(1, round(intervals ** (1 / len(columns))))
    return tuple(_width(one, along) for one in columns)


def _width(values: npt.NDArray[np.float64], intervals: int) -> float:
    present = values[np.isfinite(values)]
    if not len(present):
        return 1.0
    low, high = np.quantile(present, (MARGIN, 1 - MARGIN))
    return _rounded(float(high - low) / intervals) or 1.0


def _rounded(width: float) -> float:
    """Two significant digits."""
    if width <= 0 or not math.isfinite(width):
        return 0.0
    digits = 1 - math.floor(math.log10(width))
    return round(width, digits)


def call_text(kind: str, dimensions: Sequence[HintDimension]) -> str:
    """The call to write, in C; `kind` as the trace names the type, without `struct`."""
    bins = ", ".join(f"tidy_bin({one.field}, {one.width:g})" for one in dimensions)
    return f"tidy_alloc(ctx, sizeof({kind}), (unsigned[]){{{bins}}})"
