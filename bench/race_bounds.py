"""The bounds of the sequential test of halo/trials/racing/sequential.py, by simulation.

race_bounds.py [--paths N]

Rounds without a gain, with normal noise, are tested at each look, from the first to the last. The
bounds are chosen one after the other, so that each look rejects the same share of all paths, and
all together ERROR of them. A race that is planned to end at an earlier look may reject all the rest
there: LAST_BOUNDS. Then the bounds meet noise with heavier tails. Prints all.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from halo.trials.racing.sequential import ERROR, FIRST_LOOK, LAST_LOOK, TRIM

CHUNK = 100_000
LOOKS = range(FIRST_LOOK, LAST_LOOK + 1)
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def statistic(rounds: Floats) -> Floats:
    """Trimmed mean over its standard error (Yuen 1974), for each row."""
    count = rounds.shape[1]
    cut = count // TRIM
    kept = count - 2 * cut
    ordered = np.sort(rounds, axis=1)
    core = ordered[:, cut : count - cut]
    winsorized = np.clip(ordered, core[:, :1], core[:, -1:])
    squares = winsorized.var(axis=1, ddof=1) * (count - 1)
    found: Floats = core.mean(axis=1) / np.sqrt(squares / (kept * (kept - 1)))
    return found


def paths(draw: Callable[[tuple[int, int]], Floats], count: int) -> Floats:
    """The statistic at each look (columns) of `count` paths (rows)."""
    parts = []
    for _ in range(0, count, CHUNK):
        rounds = draw((CHUNK, LAST_LOOK))
        parts.append(np.stack([statistic(rounds[:, :look]) for look in LOOKS], axis=1))
    return np.concatenate(parts)


def bounds(found: Floats) -> list[float]:
    running = np.ones(len(found), bool)
    per_look = round(ERROR * len(found) / len(LOOKS))
    chosen = []
    for column in found.T:
        left = np.where(running, column, -np.inf)
        bound = float(np.partition(left, -per_look)[-per_look])
        running &= column < bound
        chosen.append(bound)
    return chosen


def last_bounds(found: Floats, earlier: list[float]) -> list[float]:
    """For each look, the bound if it is the last one, after the earlier looks."""
    running = np.ones(len(found), bool)
    chosen = []
    for column, bound in zip(found.T, earlier, strict=True):
        left = np.where(running, column, -np.inf)
        rest = round(ERROR * len(found)) - int((~running).sum())
        chosen.append(float(np.partition(left, -rest)[-rest]))
        running &= column < bound
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paths", type=int, default=2_000_000)
    count = parser.parse_args().paths
    generator = np.random.default_rng(1)
    normal = generator.standard_normal
    looks = paths(normal, count)
    found = bounds(looks)
    print("BOUNDS:", ", ".join(f"{bound:.2f}" for bound in found))
    print("LAST_BOUNDS:", ", ".join(f"{bound:.2f}" for bound in last_bounds(looks, found)))
    single = np.quantile(paths(normal, count), 1 - ERROR, axis=0)
    print("SINGLE_LOOK:", ", ".join(f"{bound:.2f}" for bound in single))
    tails: dict[str, Callable[[tuple[int, int]], Floats]] = {
        "Student's t, 3 degrees": lambda size: generator.standard_t(3, size),
        "15 % of rounds with eightfold noise": lambda size: (
            normal(size) * np.where(generator.random(size) < 0.15, 8, 1)
        ),
        "Laplace": lambda size: generator.laplace(size=size),
    }
    for name, draw in tails.items():
        rejected = (paths(draw, count // 8) >= np.array(found)).any(axis=1).mean()
        print(f"{name}: {rejected:.2%} of paths reach a bound (normal: {ERROR:.0%})")


if __name__ == "__main__":
    main()
