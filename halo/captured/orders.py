"""How well an order of objects keeps those together that are used together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from halo.hints.labels import DROPPED, Classes
from halo.hints.object_keys import Keys

Order = npt.NDArray[np.int64]


def order_by(keys: Keys) -> Order:
    """Objects in the order of their keys, equal ones in the order of their allocation.

    So Tidy places them: near keys are near in memory. Objects are numbered as they were allocated.
    """
    return np.argsort(keys, kind="stable")


def togetherness(order: Order, levels: Sequence[Classes]) -> float:
    """The share of neighbours in the order that are of one community, on average of the levels.

    Objects without a community do not count. 0 if no level has two objects.
    """
    shares = []
    for level in levels:
        labels = level.labels[order]
        labels = labels[labels != DROPPED]
        if len(labels) > 1:
            shares.append(float(np.mean(labels[1:] == labels[:-1])))
    return float(np.mean(shares)) if shares else 0.0
