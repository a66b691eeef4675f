"""Which candidate is kept: the fastest, but `none` unless the gain is real."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from halo.schema.trial import Trial
from halo.trials.race import Measure, judge, race
from halo.trials.runs.rounds import Samples


def samples(times: Sequence[float]) -> list[Trial]:
    return [Trial(time, time, 0.0, 1) for time in times]


def machine(true_times: dict[str, float], noise: float, log: list[list[str]]) -> Measure:
    """Measures candidates whose true times are known, with noise."""
    rng = random.Random(7)

    def measure(labels: Sequence[str], rounds: int, heat: int) -> Samples:
        log.append(list(labels))
        return {
            label: samples([true_times[label] * rng.gauss(1, noise) for _ in range(rounds)])
            for label in labels
        }

    return measure


def test_a_clear_winner_is_kept() -> None:
    log: list[list[str]] = []
    times = {"none": 1.0, "a": 0.7, "b": 0.9, "c": 1.2, "d": 1.5, "e": 1.1, "f": 1.3}
    found, verdict = race(machine(times, 0.02, log), list(times), ["none"], 11)
    assert verdict.kept == verdict.fastest == "a"
    assert verdict.gain is not None
    assert verdict.gain.low > 1.2
    assert len(found["a"]) == 3 + 4 + 11


def test_slow_candidates_leave_early_and_the_control_stays() -> None:
    log: list[list[str]] = []
    times = {"none": 9.0} | {f"c{number}": 1.0 + number for number in range(8)}
    race(machine(times, 0.0, log), list(times), ["none"], 11)
    assert [len(running) for running in log] == [9, 6, 4]
    assert all("none" in running for running in log)
    assert "c7" not in log[1]


def test_every_control_stays_to_the_end() -> None:
    """A plan must be compared with the very allocator that it forwards to."""
    log: list[list[str]] = []
    times = {"none over x": 1.0, "none over y": 1.01, "a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6}
    race(machine(times, 0.0, log), list(times), ["none over x", "none over y"], 11)
    assert all({"none over x", "none over y"} <= set(running) for running in log)


def test_the_best_plan_without_huge_pages_stays_to_the_end() -> None:
    log: list[list[str]] = []
    times = {"none": 1.0, "h1": 0.5, "h2": 0.6, "h3": 0.7, "h4": 0.75, "small": 0.8, "slow": 0.9}
    race(machine(times, 0.0, log), list(times), ["none"], 11, ["h1", "h2", "h3", "h4"])
    assert all("small" in running for running in log)
    assert log[-1] == ["none", "h1", "h2", "small"]


def test_noise_alone_keeps_none() -> None:
    """All are equally fast: someone leads by chance, and must not win by it."""
    for seed in range(10):
        rng = random.Random(seed)
        finalists = {
            label: samples([rng.gauss(1, 0.03) for _ in range(11)]) for label in ("none", "a", "b")
        }
        assert judge(finalists, ["none"], 11).kept == "none"


@pytest.mark.parametrize(("time", "kept"), [(0.995, "none"), (0.95, "a"), (1.05, "none")])
def test_a_gain_under_one_per_cent_is_not_worth_a_plan(time: float, kept: str) -> None:
    finalists = {"none": samples([1.0] * 11), "a": samples([time] * 11)}
    assert judge(finalists, ["none"], 11).kept == kept


def test_the_best_of_several_controls_is_the_one_to_beat() -> None:
    finalists = {
        "none over x": samples([1.0] * 5),
        "none over y": samples([0.9] * 5),
        "a": samples([0.95] * 5),
    }
    assert judge(finalists, ["none over x", "none over y"], 5).kept == "none over y"


def test_a_gain_over_a_control_that_lags_in_the_last_heat_is_not_enough() -> None:
    """All heats together choose the control; the gain has to hold against each of them."""
    finalists = {
        "none over x": samples([0.9] * 20 + [1.0] * 5),
        "none over y": samples([0.95] * 20 + [0.9] * 5),
        "a": samples([0.895] * 5),
    }
    assert judge(finalists, ["none over x", "none over y"], 5).kept == "none over x"


def test_times_are_compared_within_their_round() -> None:
    """The machine gets slower and slower; x has the lesser median but loses most rounds."""
    finalists = {
        "none over x": samples([1.0, 1.2, 1.40, 1.6, 1.8]),
        "none over y": samples([0.9, 1.1, 1.45, 1.5, 1.7]),
    }
    assert judge(finalists, list(finalists), 5).kept == "none over y"
