"""Verdicts by what the forests have found, and the call that passes a hint."""

from __future__ import annotations

import numpy as np
import pytest

from halo.studies.hints.call import call_text, dimensions_of
from halo.studies.hints.features import PRIMARY, Feature
from halo.studies.hints.kinds import Kind
from halo.studies.hints.verdict import (
    Findings,
    Verdict,
    sentence_of,
    verdict_of,
    verdict_of_accesses,
)


@pytest.mark.parametrize(
    ("everything", "permuted", "known", "position", "size", "verdict"),
    [
        (0.9, 0.0, 0.9, 0.1, 0.0, Verdict.USE_HINT),
        (0.9, 0.0, 0.9, 0.85, 0.0, Verdict.ALREADY),
        (0.9, 0.0, 0.0, 0.0, 0.9, Verdict.BY_SIZE),
        (0.9, 0.0, 0.2, 0.0, 0.0, Verdict.NOT_AT_BIRTH),
        (0.3, 0.3, 0.2, 0.0, 0.0, Verdict.NONE),
        (0.05, -0.1, 0.0, 0.0, 0.0, Verdict.NONE),
        (-0.1, 0.0, -0.1, -0.2, 0.0, Verdict.NONE),
    ],
)
def test_findings_have_one_verdict(
    everything: float, permuted: float, known: float, position: float, size: float, verdict: Verdict
) -> None:
    assert verdict_of(Findings(everything, permuted, known, position, size)) is verdict


def test_accesses_rule_learning_out() -> None:
    def kind(**counts: int) -> Kind:
        plain = dict.fromkeys(("to_arrays", "unnamed", "copies"), 0) | counts
        return Kind(
            type="t", objects=9, single=9, single_bytes=90, accesses=100, writes=50, **plain
        )

    assert verdict_of_accesses(kind()) is None
    assert verdict_of_accesses(kind(copies=6)) is Verdict.MOVE
    assert verdict_of_accesses(kind(copies=5)) is None
    assert verdict_of_accesses(kind(to_arrays=50)) is Verdict.ARRAYS
    assert verdict_of_accesses(kind(unnamed=90, copies=50, to_arrays=100)) is Verdict.OPAQUE


def test_each_verdict_has_a_sentence() -> None:
    assert all(sentence_of(one).endswith(".") for one in Verdict)


def field(name: str, values: list[float]) -> Feature:
    return Feature(name, PRIMARY, np.array(values), 1.0)


def test_an_interval_has_few_uniform_objects() -> None:
    values = np.linspace(0, 1000, 4001).tolist()
    (one,) = dimensions_of([field("x", values)], 25_600)  # 100 intervals
    assert one.width == pytest.approx(9.8)
    both = dimensions_of([field("x", values), field("y", values)], 25_600)
    assert [one.width for one in both] == [98, 98]
    assert call_text("Node", both) == (
        "tidy_alloc(ctx, sizeof(Node), (unsigned[]){tidy_bin(x, 98), tidy_bin(y, 98)})"
    )


def test_a_width_is_never_nothing() -> None:
    (one,) = dimensions_of([field("x", [5.0, 5.0, float("nan"), float("inf")])], 80)
    assert one.width == 1
    (infinite,) = dimensions_of([field("x", [float("inf"), float("-inf")])], 80)
    assert infinite.width == 1
