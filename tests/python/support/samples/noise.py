"""Noise of machines: by how much a run is longer than it would be alone."""

from __future__ import annotations

import random
from collections.abc import Callable

Noise = Callable[[random.Random], float]


def quiet(rng: random.Random) -> float:
    return rng.gauss(1, 0.015)


def disturbed(rng: random.Random) -> float:
    """One run in eight is much longer."""
    return rng.gauss(1, 0.01) * (rng.uniform(1.2, 2) if rng.random() < 0.125 else 1)
