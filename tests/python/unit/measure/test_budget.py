"""How long a measurement may take, and what each effort tries."""

from __future__ import annotations

import argparse

import pytest

from halo.cli.shared.measurement import effort_of
from halo.measure.racing.budget import EFFORTS, NORMAL, Budget


@pytest.mark.parametrize("name", EFFORTS)
def test_a_short_program_has_the_time_of_the_effort_and_a_long_one_has_its_runs(name: str) -> None:
    effort = EFFORTS[name]
    assert Budget(0.01, effort).seconds == effort.seconds
    long = 10 * effort.seconds / effort.runs
    assert Budget(long, effort).seconds == pytest.approx(10 * effort.seconds)


def test_more_effort_is_more_of_everything() -> None:
    quick, normal, thorough = EFFORTS.values()
    assert list(EFFORTS) == ["quick", "normal", "thorough"] and NORMAL == "normal"
    assert quick.seconds < normal.seconds < thorough.seconds
    assert quick.runs < normal.runs < thorough.runs
    assert (quick.records, normal.records, thorough.records) == (False, True, True)
    assert (quick.traces, normal.traces, thorough.traces) == (False, False, True)
    assert (quick.seconds, normal.seconds, normal.runs) == (60, 180, 40), "as the options say"


@pytest.mark.parametrize("native", [0.001, 1.0, 100.0])
def test_the_parts_of_a_measurement_fit_in_its_time(native: float) -> None:
    budget = Budget(native)
    used = budget.recording + budget.race_runs(native) * native
    assert used + budget.answer(used) <= budget.seconds
    assert budget.recording > 0 and budget.race_runs(native) > 0


def test_shorter_runs_are_more() -> None:
    budget = Budget(1.0)
    assert budget.race_runs(0.5) == pytest.approx(2 * budget.race_runs(1.0), abs=1)
    assert budget.race_runs(0.0) == budget.race_runs(0.01), "no time is less than 10 ms"
    assert budget.race_runs(10**6) == 0


def test_the_answer_has_the_time_that_is_left_and_at_least_its_share() -> None:
    budget = Budget(1.0)
    assert budget.answer(20.0) == budget.seconds - 20
    assert budget.answer(budget.seconds) == budget.answer(2 * budget.seconds) > 0


def test_a_command_without_efforts_has_the_normal_one() -> None:
    assert effort_of(argparse.Namespace()) == EFFORTS[NORMAL]
    assert effort_of(argparse.Namespace(effort="quick")) == EFFORTS["quick"]
