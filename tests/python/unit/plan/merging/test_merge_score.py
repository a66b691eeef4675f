"""The leave-one-out score: whether plans from the other inputs cover an input."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from halo.plan.merging.inputs import Input
from halo.plan.merging.score import AGREE, Covered, Score, judge, score_inputs
from support.samples.inputs import OTHER_LIBC, PROGRAM, Recorded, blue, red


def test_inputs_with_the_same_contexts_agree() -> None:
    longer = red()
    longer.called([80, 3], accesses=3)
    scores = score_inputs([red().input("a"), longer.input("b")])
    assert [score.kept for score in scores] == [1, 1]
    assert scores[0].others == scores[0].own
    assert judge(scores, ["a", "b"]) == (
        "The inputs agree: plans from the other inputs cover 100 % of the affinity that each"
        " input's own plan covers."
    )


def test_an_input_with_contexts_of_its_own_is_unlike_the_others() -> None:
    again = red()
    again.called([80, 3], accesses=3)
    inputs = [red().input("a"), blue().input("b"), again.input("c")]
    scores = score_inputs(inputs)
    assert scores[1].others.affinity == pytest.approx(20 / 400)
    assert scores[1].all.affinity == scores[1].own.affinity == 1
    assert scores[0].kept == scores[2].kept == 1
    assert judge(scores, ["a", "b", "c"]) == (
        "b is unlike the other inputs: plans from those cover 5 % of the affinity that its own plan"
        " covers."
    )


def test_shares_are_of_affinity_accesses_and_allocations() -> None:
    """Of the other input, the plan knows only the common context."""
    first = score_inputs([red().input("a"), blue().input("b")])[0]
    assert first.others.affinity == pytest.approx(20 / 400)
    assert first.others.accesses == pytest.approx(200 / 1000)
    assert first.others.allocations == pytest.approx(1 / 3)
    assert first.own == Covered(1, 1, 1)


def test_inputs_of_two_machines_are_compared_by_their_builds() -> None:
    there = red((PROGRAM, OTHER_LIBC)).input("b")
    assert [score.kept for score in score_inputs([red().input("a"), there])] == [1, 1]


def test_an_input_without_affinity_is_not_judged() -> None:
    lonely = Recorded()
    lonely.called([16, 3])
    scores = score_inputs([lonely.input("a"), red().input("b"), red().input("c")])
    assert scores[0].kept is None
    assert judge(scores, ["a", "b", "c"]).startswith("The inputs agree")
    assert "unknown" in judge(scores[:1], ["a"])


def scored(shares: Sequence[float]) -> list[Score]:
    whole = Covered(0.5, 0.5, 0.5)
    return [Score(Covered(share / 2, 0, 0), whole, whole) for share in shares]


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ([0.94, 0.98], "The inputs agree: plans from the other inputs cover 94 to 98 % of"),
        ([0.94, 1.5], "cover 94 to 100 % of"),
        ([AGREE, 1.0], "The inputs agree"),
        ([0.1, 0.3], "The inputs are unlike each other: plans from the other inputs cover 10 to"),
        ([0.1, 1, 0.3], "p, r are unlike the other inputs: plans from those cover 10 to 30 % of"),
    ],
)
def test_the_sentence_says_whether_they_agree(shares: list[float], sentence: str) -> None:
    assert sentence in judge(scored(shares), ["p", "q", "r"][: len(shares)])


def test_the_score_needs_no_weights_of_its_own() -> None:
    """Weights of the merge are those of the plans that are compared."""
    inputs = [red().input("a", 3), blue().input("b"), red().input("c", 2)]
    weighted = [Input(it.path, it.profile) for it in inputs]
    assert [it.own for it in score_inputs(inputs)] == [it.own for it in score_inputs(weighted)]
