"""Rank correlation of the model and the clock."""

from __future__ import annotations

import math
import random
from statistics import mean

import pytest

from halo.report.results.agreement import Point, agreement, rank_correlation, ranks


def slowly(one: list[float], other: list[float]) -> float:
    """Spearman's from the definition: covariance of ranks over their deviations."""

    def rank(values: list[float]) -> list[float]:
        return [
            mean(at + 1 for at, other in enumerate(sorted(values)) if other == value)
            for value in values
        ]

    a, b = rank(one), rank(other)
    centred = [(x - mean(a), y - mean(b)) for x, y in zip(a, b, strict=True)]
    above = sum(x * y for x, y in centred)
    below = math.sqrt(sum(x * x for x, _ in centred) * sum(y * y for _, y in centred))
    return above / below


@pytest.mark.parametrize("seed", range(20))
def test_it_is_spearmans(seed: int) -> None:
    rng = random.Random(seed)
    one = [float(rng.randrange(6)) for _ in range(12)]
    other = [value + rng.randrange(5) for value in one]
    assert rank_correlation(one, other) == pytest.approx(slowly(one, other))


def test_equal_values_share_a_rank() -> None:
    assert ranks([5.0, 1.0, 5.0, 9.0]) == [2.5, 1.0, 2.5, 4.0]


def test_where_all_are_equal_nothing_is_predicted() -> None:
    assert rank_correlation([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) == 0.0


def test_programs_of_different_lengths_do_not_make_a_model_look_good() -> None:
    """Within each program the model says the opposite of the clock."""
    points = []
    for program, scale in (("short", 1.0), ("long", 1000.0)):
        for step in range(5):
            cycles, seconds = 10.0 + step, 15.0 - step
            points.append(
                Point(
                    program, str(step), scale * cycles, scale * seconds, cycles / 12, seconds / 13
                )
            )
    found = agreement(points)
    assert found.absolute > 0.4
    assert found.relative == pytest.approx(-1.0)
    assert found.within == {"short": pytest.approx(-1.0), "long": pytest.approx(-1.0)}
