"""Input files of the program `graph`."""

from __future__ import annotations

import random
from statistics import fmean

SIDE = 40


def nodes() -> list[str]:
    """Lines of nodes on a square, by ids without locality: the id, and those of neighbours."""
    ids = random.Random(1).sample(range(SIDE * SIDE), SIDE * SIDE)
    found = {}
    for at, one in enumerate(ids):
        row, column = divmod(at, SIDE)
        near = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        others = [ids[r * SIDE + c] for r, c in near if 0 <= r < SIDE and 0 <= c < SIDE]
        found[one] = " ".join(map(str, [one, *others]))
    return [found[one] for one in sorted(found)]


def distance(lines: list[str]) -> float:
    """The mean distance in lines between neighbours."""
    edges = [list(map(int, line.split())) for line in lines]
    place = {one: at for at, (one, *_) in enumerate(edges)}
    return fmean(abs(place[one] - place[other]) for one, *others in edges for other in others)
