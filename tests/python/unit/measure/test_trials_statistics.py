"""The statistics that decide: against obvious references."""

from __future__ import annotations

import itertools
import random
import statistics

import pytest

from halo.measure.statistics import ratio, sign_test, summarize


def quartiles_by_sorting(values: list[float]) -> tuple[float, float, float]:
    """Linear interpolation at 1/4, 1/2 and 3/4 of the way through the sorted values."""
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    return at(0.25), at(0.5), at(0.75)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 10, 11, 50])
def test_quartiles_are_those_of_the_sorted_values(count: int) -> None:
    values = [random.Random(count * 100 + i).random() for i in range(count)]
    found = summarize(values)
    expected = quartiles_by_sorting(values)
    assert (found.first_quartile, found.median, found.third_quartile) == pytest.approx(expected)
    assert found.count == count


def test_spread_is_the_interquartile_range_over_the_median() -> None:
    assert summarize([1.0, 2.0, 3.0, 4.0, 5.0]).spread == pytest.approx(2 / 3)


@pytest.mark.parametrize("count", [1, 4, 9])
def test_the_sign_test_counts_the_outcomes_that_are_as_far_off(count: int) -> None:
    outcomes = [sum(signs) for signs in itertools.product((0, 1), repeat=count)]
    for beyond in range(count + 1):
        expected = sum(one >= beyond for one in outcomes) / len(outcomes)
        assert sign_test(beyond, count) == pytest.approx(expected)


def test_no_values_are_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        summarize([])


def test_ratio_is_that_of_the_medians_and_lies_in_its_interval() -> None:
    rng = random.Random(1)
    slow = [2 + rng.random() / 10 for _ in range(11)]
    fast = [1 + rng.random() / 10 for _ in range(11)]
    found = ratio(slow, fast)
    assert found.value == statistics.median(slow) / statistics.median(fast)
    assert found.low <= found.value <= found.high
    assert found.low > 1.8
    assert found.high < 2.2


def test_ratio_of_equal_noise_holds_one_most_of_the_time() -> None:
    """A 95 % interval misses about one time in twenty; far more would mean it is too narrow."""
    missed = 0
    for seed in range(100):
        rng = random.Random(seed)
        found = ratio(
            [rng.gauss(1, 0.05) for _ in range(11)], [rng.gauss(1, 0.05) for _ in range(11)]
        )
        missed += not found.low <= 1 <= found.high
    assert missed <= 15


def test_drift_that_hits_both_sides_does_not_hide_a_difference() -> None:
    """Rounds are resampled whole: the machine slows down threefold, the ratio stays 1.1."""
    drift = [1 + 0.2 * number for number in range(11)]
    found = ratio([1.1 * speed for speed in drift], drift)
    assert found.low == pytest.approx(1.1)
    assert found.high == pytest.approx(1.1)


def test_ratio_is_reproducible() -> None:
    values = [1.0, 1.2, 0.9, 1.1]
    assert ratio(values, values[::-1]) == ratio(values, values[::-1])
