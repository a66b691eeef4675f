"""What is said to be left of the runs before the recording."""

from __future__ import annotations

import random

import pytest

from halo.measure.first_runs import MIN_RUNS
from halo.measure.inputs.unrecorded import TYPICAL, Forecast, quick_trials


def test_nothing_is_known_before_the_first_run_has_ended() -> None:
    step = Forecast(jobs=2, allocators=4).step(0, [])
    assert (step.done, step.total, step.left) == (0, 0, None)


def test_first_runs_alone_have_a_known_number() -> None:
    assert Forecast(jobs=3).step(0, [])[:2] == (0, 3 * MIN_RUNS)
    assert Forecast(jobs=3).step(0, [1.5]) == (1, 3 * MIN_RUNS, "glibc", 5 * 1.5)


def test_a_job_that_has_not_run_is_taken_to_run_as_long_as_the_last_one() -> None:
    forecast = Forecast(jobs=3)
    left = []
    for job, seconds in enumerate([1.0, 5.0, 2.0]):
        left += [forecast.step(job, ended).left for ended in ([], [seconds])]
    assert left == [None, 1 + 4, 4, 5 + 10, 10, 2]


def test_a_longer_reference_does_not_count_for_the_allocators() -> None:
    """They are timed on the measured input, which runs first."""
    forecast = Forecast(jobs=2, allocators=4)
    forecast.step(0, [1.0])
    step = forecast.step(1, [9.0])
    assert step == (3, 4 + 12, "glibc", 9 + 12 * TYPICAL)


def test_the_many_runs_of_a_short_program_count_as_the_second_one() -> None:
    forecast = Forecast(jobs=2, allocators=4)
    assert forecast.step(0, [0.01] * 20).done == 1
    assert forecast.step(1, []).done == MIN_RUNS


@pytest.mark.parametrize("seconds", [0.4, 1.0, 3.0, 20.0])
def test_after_a_tenth_the_length_of_the_stage_is_known(seconds: float) -> None:
    """Within a factor of 1.5, although the times vary, and glibc is the slowest allocator."""
    rng = random.Random(3)
    trials = [seconds * rng.uniform(0.9, 1.1) for _ in range(4)]
    others = 3 * quick_trials(trials[0])
    timed = quick_trials(trials[0]) * seconds + others * rng.uniform(0.5, 0.9) * seconds
    length = sum(trials) + timed
    assert trials[0] <= length / 10
    forecast, past = Forecast(jobs=2, allocators=4), 0.0
    for number, taken in enumerate(trials):
        ended = trials[number - number % MIN_RUNS : number]
        left = forecast.step(number // MIN_RUNS, ended).left
        if number > 0:
            assert left is not None
            assert length / 1.5 <= past + left <= length * 1.5
        past += taken
