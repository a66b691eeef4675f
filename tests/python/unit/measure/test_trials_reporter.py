"""What a stage is said to take, and what is left of it."""

from __future__ import annotations

import random

import pytest

from halo.measure.candidates import printed
from halo.measure.reporter import Reporter, duration
from halo.measure.runs.rounds import RunProgress


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_stages_are_numbered_and_say_what_they_take(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    reporter = Reporter("prog", 2, clock)
    reporter.stage("first", 12.4)
    clock.now += 20
    reporter.stage("in between", is_extra=True)
    reporter.stage("second", 300)
    assert capsys.readouterr().err.splitlines() == [
        "halo: prog: [1/2] first (0 s in, about 12 s)",
        "halo: prog: in between (20 s in)",
        "halo: prog: [2/2] second (20 s in, about 5 min)",
    ]


@pytest.mark.parametrize("expected", [0.0, 10.0, 60.0, 150.0])
def test_after_a_tenth_of_a_stage_its_own_pace_predicts_the_rest(expected: float) -> None:
    """The bar of the progress display: within a factor of 1.5, although it expected otherwise."""
    rng = random.Random(5)
    clock = Clock()
    reporter = Reporter("prog", 6, clock)
    reporter.stage("racing", expected)
    taken = [rng.uniform(0.8, 1.2) for _ in range(60)]
    for done, seconds in enumerate(taken):
        left = sum(taken[done:])
        said = reporter.seconds_left(RunProgress(done, 60, ""))
        if done >= 6:
            assert left / 1.5 <= said <= left * 1.5
        clock.now += seconds
    assert reporter.seconds_left(RunProgress(60, 60, "")) == 0


def test_what_was_expected_of_a_stage_counts_as_one_of_its_runs() -> None:
    clock = Clock()
    reporter = Reporter("prog", 0, clock)
    reporter.stage("racing", 60)
    assert reporter.seconds_left(RunProgress(0, 60, "")) == pytest.approx(60)
    clock.now += 2
    assert reporter.seconds_left(RunProgress(1, 60, "")) == pytest.approx(59 * (1 + 2) / 2)
    assert reporter.seconds_left(RunProgress(1, 31, "")) == pytest.approx(30 * (1 + 2) / 2), (
        "fewer runs"
    )
    reporter.stage("measuring", 8)
    assert reporter.seconds_left(RunProgress(0, 4, "")) == pytest.approx(8)


def test_runs_of_an_interrupted_measurement_do_not_count_as_fast_ones() -> None:
    clock = Clock()
    reporter = Reporter("prog", 0, clock)
    reporter.stage("racing", 60)
    assert reporter.seconds_left(RunProgress(40, 60, "")) == pytest.approx(20)
    clock.now += 1
    assert reporter.seconds_left(RunProgress(41, 60, "")) == pytest.approx(19)


def test_nothing_is_said_of_a_stage_of_which_nothing_is_known() -> None:
    reporter = Reporter("prog", 0, Clock())
    reporter.stage("running it")
    assert reporter.seconds_left(RunProgress(0, 60, "")) == 0


def test_the_caller_may_know_better_what_is_left() -> None:
    clock = Clock()
    reporter = Reporter("prog", 0, clock)
    reporter.stage("running it")
    assert reporter.seconds_left(RunProgress(0, 0, "")) == 0
    clock.now += 1
    assert reporter.seconds_left(RunProgress(1, 16, "", 13.0)) == pytest.approx(13)


def test_a_further_part_of_a_stage_has_a_pace_of_its_own() -> None:
    clock = Clock()
    reporter = Reporter("prog", 0, clock)
    reporter.stage("running it")
    clock.now += 100
    reporter.expect(16)
    assert reporter.seconds_left(RunProgress(4, 16, "")) == pytest.approx(12)
    clock.now += 3
    assert reporter.seconds_left(RunProgress(5, 16, "")) == pytest.approx(11 * (1 + 3) / 2)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (41.6, "42 s"), (89, "89 s"), (100, "2 min")]
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_an_allocator_alone_has_its_words_in_printed_text() -> None:
    assert printed("none over tcmalloc") == "no plan, tcmalloc"
    assert printed("halo over tcmalloc") == "halo over tcmalloc"
    assert printed("none") == "none"
