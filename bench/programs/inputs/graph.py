"""Makes a graph as text: a plane of nodes with neighbours, whose ids have no locality."""

from __future__ import annotations

import random
from collections.abc import Iterator

from common import folder, generator


def lines(rng: random.Random, side: int) -> Iterator[str]:
    """A line for each node, by id: its id, and those of its neighbours.

    Nodes are on a square of `side` by `side`. Each has an edge to the next ones in its row and its
    column, and half of them to the next one on the diagonal.
    """
    ids = list(range(side * side))
    rng.shuffle(ids)
    neighbours: list[list[int]] = [[] for _ in ids]
    for at, one in enumerate(ids):
        row, column = divmod(at, side)
        others = [at + 1] if column + 1 < side else []
        others += [at + side] if row + 1 < side else []
        if column + 1 < side and row + 1 < side and rng.random() < 0.5:
            others.append(at + side + 1)
        for other in others:
            neighbours[one].append(ids[other])
            neighbours[ids[other]].append(one)
    for number, mine in enumerate(neighbours):
        yield " ".join(map(str, [number, *mine]))


def main() -> None:
    for name, side in (("train", 200), ("ref", 500)):
        text = "\n".join([*lines(generator(f"graph {name}"), side), ""])
        (folder() / f"{name}.txt").write_text(text)


if __name__ == "__main__":
    main()
