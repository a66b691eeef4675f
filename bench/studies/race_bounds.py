"""The bounds of the sequential tests of halo/measure/racing/sequential.py, by simulation.

race_bounds.py [--paths N]

Rounds without a gain, with normal noise, are tested at each look. The bounds are chosen one after
the other. The share of rejected paths grows with the square root of the rounds from FIRST_LOOK on,
to ERROR after the last one (the power family of Kim and DeMets, Biometrika 1987).
BOUNDS are of looks after each round, STAGED_BOUNDS of those at LOOKS. A test in stages may reject
all the rest when it ends: LAST_BOUNDS. Then it meets noise with heavier tails, and so does the test
of answers, TWO_SIDED. Prints all.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from halo.measure.racing.sequential import ERROR, FIRST_LOOK, LAST_LOOK, LOOKS, TRIM, TWO_SIDED

CHUNK = 100_000
ROUNDS = range(FIRST_LOOK, LAST_LOOK + 1)
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Statistics = Mapping[int, Floats]
"""For each number of rounds, the statistic of each path."""


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


def paths(draw: Callable[[tuple[int, int]], Floats], count: int) -> Statistics:
    """The statistics of `count` paths."""
    parts: dict[int, list[Floats]] = {number: [] for number in ROUNDS}
    for _ in range(0, count, CHUNK):
        rounds = draw((CHUNK, LAST_LOOK))
        for number, part in parts.items():
            part.append(statistic(rounds[:, :number]))
    return {number: np.concatenate(part) for number, part in parts.items()}


def bounds(found: Statistics, looks: Sequence[int]) -> dict[int, float]:
    """The bound of each look."""
    running = np.ones(len(found[LAST_LOOK]), bool)
    chosen = {}
    for look in looks:
        spent = ERROR * math.sqrt((look - FIRST_LOOK + 1) / len(ROUNDS))
        rest = round(spent * len(running)) - int((~running).sum())
        chosen[look] = _bound(found[look], running, rest)
        running &= found[look] < chosen[look]
    return chosen


def last_bounds(found: Statistics, earlier: Mapping[int, float]) -> list[float]:
    """For each number of rounds, the bound if the last look is after it."""
    running = np.ones(len(found[LAST_LOOK]), bool)
    chosen = []
    for number, column in found.items():
        rest = round(ERROR * len(column)) - int((~running).sum())
        chosen.append(_bound(column, running, rest))
        running &= column < earlier.get(number, np.inf)
    return chosen


def rejected(found: Statistics, chosen: Mapping[int, float]) -> float:
    """The share of paths that ever reach a bound."""
    return float(np.any([found[look] >= bound for look, bound in chosen.items()], axis=0).mean())


def answers(draw: Callable[[tuple[int, int]], Floats], count: int) -> float:
    """The share of answers that claim that one side is faster, at any look."""
    claims = 0
    for _ in range(0, count, CHUNK):
        rounds = draw((CHUNK, LAST_LOOK))
        ranks = {look: _ranks_of_losses(rounds[:, :look]) for look in LOOKS}
        found = {look: statistic(rounds[:, :look]) >= it for look, it in TWO_SIDED.early.items()}
        claimed = np.any([*found.values()], axis=0)
        for look, column in ranks.items():
            beyond = TWO_SIDED.outermost(look)
            claimed |= column <= (-1 if beyond is None else beyond)
        claims += int(claimed.sum())
    return claims / (CHUNK * len(range(0, count, CHUNK)))


def _ranks_of_losses(rounds: Floats) -> Floats:
    ranks = np.abs(rounds).argsort(axis=1).argsort(axis=1) + 1
    found: Floats = np.where(rounds < 0, ranks, 0).sum(axis=1)
    return found


def _bound(column: Floats, running: np.ndarray[tuple[int], np.dtype[np.bool]], count: int) -> float:
    left = np.where(running, column, -np.inf)
    return float(np.partition(left, -count)[-count])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paths", type=int, default=2_000_000)
    count = parser.parse_args().paths
    generator = np.random.default_rng(1)
    normal = generator.standard_normal
    found = paths(normal, count)
    staged = bounds(found, LOOKS)
    last = last_bounds(found, staged)
    single = [float(np.quantile(column, 1 - ERROR)) for column in paths(normal, count).values()]
    for name, values in (
        ("BOUNDS", [*bounds(found, ROUNDS).values()]),
        ("STAGED_BOUNDS", [*staged.values()]),
        ("LAST_BOUNDS", last),
        ("SINGLE_LOOK", single),
    ):
        print(f"{name}:", ", ".join(f"{bound:.2f}" for bound in values))
    tails: dict[str, Callable[[tuple[int, int]], Floats]] = {
        "Student's t, 3 degrees": lambda size: generator.standard_t(3, size),
        "15 % of rounds with eightfold noise": lambda size: (
            normal(size) * np.where(generator.random(size) < 0.15, 8, 1)
        ),
        "Laplace": lambda size: generator.laplace(size=size),
    }
    print(f"normal: {answers(normal, count // 8):.2%} of answers claim one side")
    for name, draw in tails.items():
        ends = {**staged, LAST_LOOK: last[-1]}
        share = rejected(paths(draw, count // 8), ends)
        print(f"{name}: {share:.2%} of paths reach a bound (normal: {ERROR:.0%})")
        print(f"{name}: {answers(draw, count // 8):.2%} of answers claim one side")


if __name__ == "__main__":
    main()
