"""What the times of `halo study colours` mean."""

from __future__ import annotations

import pytest

from halo.studies.pollution.colours.document import ColoursDocument, LevelTimes
from halo.studies.pollution.colours.machine_test import describe, verdict


def level(name: str, same: float, spread: float, tested: bool = True) -> LevelTimes:
    return LevelTimes(
        name=name, colours=32, pages=24, tested=tested, same_ns=same, spread_ns=spread
    )


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ([level("L2", 4.4, 4.0)], "Guest page colours have no effect on this machine."),
        ([level("L2", 21.0, 4.0)], "Page colours have an effect on this machine, in L2."),
        (
            [level("L2", 21, 4), level("L3", 60, 20)],
            "Page colours have an effect on this machine, in L2, L3.",
        ),
        ([level("L2", 9, 1, tested=False)], "Page colours cannot be tested on this machine."),
    ],
)
def test_the_verdict_is_one_sentence(levels: list[LevelTimes], sentence: str) -> None:
    assert verdict(ColoursDocument(levels=tuple(levels))) == sentence


def test_a_level_is_one_line() -> None:
    assert describe(level("L2", 4.06, 3.94)) == (
        "L2, 32 colours: 4.1 ns a load from 24 pages of one colour, 3.9 ns from pages of all"
        " colours"
    )
