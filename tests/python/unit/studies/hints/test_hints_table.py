"""Hints as tables: the noise column is always shown, and fields without values are named."""

from __future__ import annotations

import msgspec

from halo.studies.hints.document import HintFeature, HintPrediction, HintsDocument
from halo.studies.hints.kinds import Kind
from halo.studies.hints.study import unjudged
from halo.studies.hints.table import (
    MAX_FEATURES,
    features_table,
    overview,
    phase_sentence,
    predicted_sentence,
    unseen_sentence,
)

KIND = Kind("node", 9, 9, 90, 1000, 0, 0, 50, 0)


def feature(name: str, group: str) -> HintFeature:
    return HintFeature(
        name=name,
        group=group,
        coverage=1.0,
        known_share=0.5,
        at_birth=False,
        gini=0.1,
        permutation=-0.01,
    )


def test_the_noise_column_is_shown_behind_the_best() -> None:
    many = [feature(f"f{at}", "primary") for at in range(20)] + [feature("noise", "noise")]
    one = msgspec.structs.replace(unjudged(KIND, ""), features=tuple(many))
    shown = [row.cells[0] for row in features_table(one).rows]
    assert shown == [f"f{at}" for at in range(MAX_FEATURES)] + ["noise"]


def test_a_type_without_a_verdict_says_why() -> None:
    found = HintsDocument(
        program="/p",
        arguments=(),
        seed=0,
        complete=True,
        types=(unjudged(KIND, "There are too few."),),
    )
    (row,) = overview(found).rows
    assert row.cells == ("node", "9", "1,000", "There are too few.")


def test_fields_without_values_are_named() -> None:
    one = msgspec.structs.replace(unjudged(KIND, ""), unseen=("x", "y"))
    assert "few values of x, y:" in unseen_sentence(one)


def test_predictions_are_ratios_to_what_was_recorded_and_to_ignored_hints() -> None:
    run = HintPrediction(recorded=200, ignored=100, hinted=80)
    assert "0.40 times those recorded, and 0.80 times those" in predicted_sentence(run)
    phase = HintPrediction(recorded=0, ignored=50, hinted=25)
    sentence = phase_sentence("f(int)", phase)
    assert "into f(int) to the last exit" in sentence
    assert "25.00 times those recorded, and 0.50 times those" in sentence
