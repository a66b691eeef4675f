"""The list of stress cases is complete, and its trainings are like its measurements."""

from __future__ import annotations

from typing import Any

import pytest

from bench.soak.stress_cases import CASES, choose_cases
from support.command import REPOSITORY

PROGRAMS = sorted({case.program for case in CASES})


def test_every_program_has_a_case() -> None:
    sources = (REPOSITORY / "bench" / "soak" / "stress").glob("*.cc")
    assert sorted(path.stem for path in sources) == PROGRAMS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_training_draws_the_sizes_of_the_measurement(case: Any) -> None:
    """A plan made for other sizes would group other objects."""
    assert len(case.tiny.split()) == len(case.full.split())
    sizes = {
        "larson": slice(2, 4),
        "xmalloc": slice(3, 5),
        "churn": slice(1, 3),
        "sawtooth": slice(1, 3),
        "random": slice(3, 5),
    }.get(case.program, slice(2, 3))
    assert case.tiny.split()[sizes] == case.full.split()[sizes]


def test_cases_are_chosen_by_their_name_or_their_program() -> None:
    assert [case.name for case in choose_cases(["larson"])] == ["larson"]
    assert len(choose_cases(["sawtooth"])) == 3
    assert choose_cases([]) == list(CASES)
    with pytest.raises(SystemExit, match="there is no case nothing; there are: cache-scratch"):
        choose_cases(["nothing"])
