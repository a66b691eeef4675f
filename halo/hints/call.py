"""The allocator call that passes a hint, with the width of its cells."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from halo.hints.features import Feature
from halo.schema.hints import HintDimension

INTERVAL_BYTES = 256
"""Memory of the objects in one interval; cells of Tidy adapt, and are larger."""
MARGIN = 0.01
"""Share of the values at each end that does not count for their range."""


def dimensions_of(features: Sequence[Feature], total_bytes: int) -> tuple[HintDimension, ...]:
    """The hint's dimensions, with intervals of equal width.

    All objects that are not arrays fill `total_bytes`. Each dimension has an equal number of
    intervals, so that an interval has INTERVAL_BYTES of objects if values are uniform.
    """
    intervals = max(1.0, total_bytes / INTERVAL_BYTES)
    along = max(1, round(intervals ** (1 / len(features))))
    return tuple(
        HintDimension(
            one.name, _width(one, along), one.place.owner, one.place.path, one.place.scalar
        )
        for one in features
    )


def _width(feature: Feature, intervals: int) -> float:
    present = feature.values[np.isfinite(feature.values)]
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
