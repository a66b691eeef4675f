"""Keys of objects by hints, as Tidy makes them (src/tidy/keys.h), for `halo-layout`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from halo.studies.hints.document import HintDimension

Keys = npt.NDArray[np.uint64]

_BITS = 32
_MIDDLE = float(1 << (_BITS - 1))
_NAN, _ABOVE = (1 << _BITS) - 1, (1 << _BITS) - 2


def bins_of(values: npt.NDArray[np.float64], width: float) -> Keys:
    """`tidy_bin` of each value (src/tidy/include/halo/tidy.h), shape (objects)."""
    with np.errstate(over="ignore", invalid="ignore"):
        at = values / width + _MIDDLE
    inside = np.clip(np.nan_to_num(at, nan=0.0), 0.0, float(_ABOVE)).astype(np.uint64)
    return np.where(np.isnan(at), np.uint64(_NAN), inside)


def interleave(elements: Sequence[Keys]) -> Keys:
    """The keys of hints with these elements: their bits interleaved, shape (objects)."""
    count = len(elements)
    if count == 1:
        return elements[0]
    keys = np.zeros(len(elements[0]), np.uint64)
    for bit in range(64 // count):
        for at, element in enumerate(elements):
            one = (element >> np.uint64(bit)) & np.uint64(1)
            keys |= one << np.uint64(bit * count + at)
    return keys


def keys_of(hint: Sequence[HintDimension], values: Sequence[npt.NDArray[np.float64]]) -> Keys:
    """The key of each object; `values` has an array for each dimension, NaN if there is none."""
    return interleave([bins_of(one, dim.width) for dim, one in zip(hint, values, strict=True)])


def write_keys(found: Sequence[tuple[npt.NDArray[np.int64], Keys]], path: Path) -> None:
    """Writes the numbers of objects with their keys (src/studies/layouts/object_keys.h)."""
    numbers = np.concatenate([one for one, _ in found])
    keys = np.concatenate([one for _, one in found])
    order = np.argsort(numbers)
    lines = (f"{number} {key}\n" for number, key in zip(numbers[order], keys[order], strict=True))
    path.write_text("".join(lines))
