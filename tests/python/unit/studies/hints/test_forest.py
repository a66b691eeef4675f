"""Forests: they find what is there, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from halo.studies.hints.features import noise
from halo.studies.hints.forest import Accuracy, Learner, matrix_of, without_features

SEEDS = range(2)


def test_ranks_keep_the_order_and_say_what_is_missing() -> None:
    column = np.array([3e300, np.nan, -1.0, 3e300, 2.0**53, 2.0**53 + 2])
    assert matrix_of([column])[:, 0].tolist() == [3, -1, 0, 3, 1, 2]
    assert matrix_of([]).shape == (0, 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_class_that_follows_a_column_is_found(seed: int) -> None:
    random = np.random.default_rng(seed)
    labels = random.integers(0, 8, 240)
    column = labels + random.random(240) / 2
    features = matrix_of([noise(240, seed).values, column, random.random(240)])
    learnt = Learner(seed, 1, (10, 20)).learn(features, labels)
    assert learnt.accuracy.top1 > 0.7
    assert learnt.accuracy.top1 <= learnt.accuracy.top5 <= 1
    assert learnt.gini[1] == max(learnt.gini) and sum(learnt.gini) == pytest.approx(1)
    assert learnt.permutation[1] == max(learnt.permutation) > 0.5
    assert learnt == Learner(seed, 1, (10, 20)).learn(features, labels)


def test_importance_is_that_of_all_classes_though_objects_are_in_the_order_of_the_layout() -> None:
    """One column tells the first two classes apart, the other one the last six."""
    labels = np.repeat(np.arange(8), 800)
    first = np.where(labels < 2, labels, 2)
    rest = np.where(labels < 2, 2, labels)
    learnt = Learner(0, 1, (5,)).learn(matrix_of([first, rest]), labels)
    assert learnt.accuracy.top1 > 0.95
    assert learnt.permutation[1] > learnt.permutation[0]


def test_without_features_the_largest_classes_are_named() -> None:
    labels = np.repeat(np.arange(8), [30, 20, 10, 10, 10, 10, 5, 5])
    found = without_features(labels)
    assert (found.top1, found.majority) == (0.3, 0.3)
    assert found.top5 == pytest.approx(0.8)
    assert Learner(0, 1).compare(np.zeros((100, 0), np.float32), labels) == found


@pytest.mark.parametrize("seed", SEEDS)
def test_permuted_labels_are_never_found(seed: int) -> None:
    """The noise column and the permutations come from one seed, and must not be correlated."""
    labels = np.sort(np.arange(240) % 8)
    features = matrix_of([noise(240, seed).values])
    permuted = Learner(seed, 1, (10,)).permuted(features, labels)
    assert permuted.top1 < 0.4
    assert permuted.majority == 1 / 8


def test_normalised_accuracy() -> None:
    assert Accuracy(0.5, 1.0, 0.5).normalised == 0
    assert Accuracy(1.0, 1.0, 0.5).normalised == 1
    assert Accuracy(1.0, 1.0, 1.0).normalised == 0
