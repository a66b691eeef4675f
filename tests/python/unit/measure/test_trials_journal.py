"""Interrupted measurements: what is finished is used again, and nothing that is stale."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from halo.measure.journal import Journal

INPUTS = {"machine": "a", "runtime": "1"}


class Work:
    """Counts how often it is done."""

    def __init__(self) -> None:
        self.done = 0

    def __call__(self) -> dict[str, int]:
        self.done += 1
        return {"value": self.done}


def test_a_finished_stage_is_used_again(tmp_path: Path) -> None:
    work = Work()
    for _ in range(2):
        assert Journal(tmp_path, INPUTS).stage("one", {"x": 1}, work) == {"value": 1}
    assert work.done == 1


@pytest.mark.parametrize(
    ("inputs", "own"),
    [({**INPUTS, "runtime": "2"}, {"x": 1}), (INPUTS, {"x": 2}), ({"machine": "a"}, {"x": 1})],
)
def test_a_stage_with_other_inputs_is_not(
    tmp_path: Path, inputs: dict[str, str], own: dict[str, int]
) -> None:
    work = Work()
    Journal(tmp_path, INPUTS).stage("one", {"x": 1}, work)
    assert Journal(tmp_path, inputs).stage("one", own, work) == {"value": 2}
    assert Journal(tmp_path, INPUTS).stage("two", {"x": 1}, work) == {"value": 3}


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: json.dumps(json.loads(text) | {"version": 99}),
        lambda text: json.dumps(json.loads(text) | {"key": "0"}),
    ],
)
def test_a_damaged_stage_is_done_again(tmp_path: Path, damage: Callable[[str], str]) -> None:
    work = Work()
    Journal(tmp_path, INPUTS).stage("one", {}, work)
    (tmp_path / "one.json").write_text(damage((tmp_path / "one.json").read_text()))
    assert Journal(tmp_path, INPUTS).stage("one", {}, work) == {"value": 2}


def test_a_forgotten_stage_is_done_again(tmp_path: Path) -> None:
    work = Work()
    journal = Journal(tmp_path, INPUTS)
    journal.stage("one", {}, work)
    journal.forget("one")
    assert journal.stage("one", {}, work) == {"value": 2}


def test_an_interruption_loses_only_the_round_it_comes_in(tmp_path: Path) -> None:
    ran: list[int] = []

    def run(number: int) -> int:
        ran.append(number)
        if len(ran) == 3:
            raise KeyboardInterrupt
        return 10 * number

    with pytest.raises(KeyboardInterrupt):
        Journal(tmp_path, INPUTS).rounds("timing", {}, 5, run)
    assert Journal(tmp_path, INPUTS).rounds("timing", {}, 5, run) == [0, 10, 20, 30, 40]
    assert ran == [0, 1, 2, 2, 3, 4]


def test_a_stage_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Journal(tmp_path, INPUTS).stage("one", {}, fail)
    assert list(tmp_path.iterdir()) == []
