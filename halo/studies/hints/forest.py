"""Random forests that predict the class of an object (Miucin, section 3.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from halo.base.errors import MissingPart
from halo.base.settings import read_settings

TREES = (100, 200, 400, 500)
FOLDS = 5
TOP = 5
PERMUTATIONS = 20
FEW_TREES = 30
FEW_OBJECTS = 2000
"""Objects of the forests that are only compared with each other."""
BATCH = 50
"""Trees that are in memory at a time."""
TESTED_OBJECTS = 1000
"""Objects whose columns are permuted."""
# One stream of random numbers for each use: equal streams would correlate the noise column with
# permuted labels.
_FEW, _PERMUTED_LABELS, _PERMUTED_COLUMNS, _TESTED = range(1, 5)

Matrix = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Accuracy:
    """Shares of objects whose class is the likeliest one, or among the TOP likeliest.

    `majority` is the share of the largest class.
    """

    top1: float
    top5: float
    majority: float

    @property
    def normalised(self) -> float:
        """0 for always the largest class, 1 for no error."""
        return (self.top1 - self.majority) / (1 - self.majority) if self.majority < 1 else 0.0


@dataclass(frozen=True)
class Learnt:
    """Forests by their number of trees, with their accuracy in FOLDS-fold cross validation, the
    number of the best one, and importances by column.

    `gini` adds up to 1. `permutation` is the accuracy that is lost if a column is permuted.
    """

    forests: Mapping[int, Accuracy]
    trees: int
    gini: tuple[float, ...]
    permutation: tuple[float, ...]

    @property
    def accuracy(self) -> Accuracy:
        return self.forests[self.trees]


@cache
def check_learner() -> None:
    """Raises `MissingPart` unless scikit-learn is installed."""
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise MissingPart(
            f"halo study hints needs scikit-learn; {read_settings().extra_command('learn')}"
        ) from error


def matrix_of(columns: Sequence[npt.NDArray[np.float64]]) -> Matrix:
    """The columns as ranks, which trees treat like the values, and float32 represents exactly.

    Equal values have one rank; a missing value has rank -1.
    """
    ranked = []
    for column in columns:
        missing = np.isnan(column)
        ranks = np.unique(column, return_inverse=True)[1].astype(np.float32)
        ranks[missing] = -1
        ranked.append(ranks)
    return np.stack(ranked, axis=1) if ranked else np.zeros((0, 0), np.float32)


@dataclass(frozen=True)
class Learner:
    """Trains forests; equal seeds give equal results.

    `jobs` is the number of threads, `trees` the sizes of forests to try, ascending.
    """

    seed: int
    jobs: int
    trees: tuple[int, ...] = TREES

    def learn(self, features: Matrix, labels: Labels) -> Learnt:
        """The best of the forests, by top-1 accuracy; of equals the smallest.

        `features` has shape (objects, columns). Labels are 0 to classes - 1, and each class has
        FOLDS members at least.
        """
        correct = np.zeros((len(self.trees), 2))
        gini = np.zeros(features.shape[1])
        permutation = np.zeros(features.shape[1])
        for number, (train, test) in enumerate(self._folds(labels)):
            votes = np.zeros((len(test), int(labels.max()) + 1))
            grown = 0
            for forest in self._batches(features[train], labels[train]):
                if number == 0 and grown == 0:
                    few = self._tested(test)
                    permutation = self._permuted(forest, features[few], labels[few])
                votes += _votes(forest, features[test])
                grown += len(forest.estimators_)
                gini += forest.feature_importances_ * len(forest.estimators_)
                if grown in self.trees:
                    correct[self.trees.index(grown)] += _count_hits(votes, labels[test])
        correct /= len(labels)
        gini /= gini.sum() or 1
        majority = majority_of(labels)
        forests = {
            trees: Accuracy(float(top1), float(top5), majority)
            for trees, (top1, top5) in zip(self.trees, correct, strict=True)
        }
        best = self.trees[int(correct[:, 0].argmax())]
        return Learnt(forests, best, tuple(gini.tolist()), tuple(permutation.tolist()))

    def _batches(self, features: Matrix, labels: Labels) -> Iterator[Any]:
        """Parts of one forest, as a whole one would need too much memory: a number by class and
        node. Each of `trees` is the size of a number of them."""
        grown = 0
        for size in self.trees:
            while grown < size:
                trees = min(BATCH, size - grown)
                yield self._fit(features, labels, trees, self.seed + grown)
                grown += trees

    def quick(self) -> Learner:
        """A learner of the smallest forest alone."""
        return replace(self, trees=self.trees[:1])

    def compare(self, features: Matrix, labels: Labels) -> Accuracy:
        """The accuracy of a smaller forest, trained on one part of at most FEW_OBJECTS objects."""
        if features.shape[1] == 0:
            return without_features(labels)
        chosen = self._few(labels)
        features, labels = features[chosen], labels[chosen]
        train, test = self._folds(labels)[0]
        forest = self._fit(features[train], labels[train], FEW_TREES, self.seed)
        hits = _hits(forest, features[test], labels[test]) / len(test)
        return Accuracy(float(hits[0]), float(hits[1]), majority_of(labels))

    def permuted(self, features: Matrix, labels: Labels) -> Accuracy:
        """The 99th percentile of `compare` with PERMUTATIONS permutations of the labels."""
        random = np.random.default_rng((self.seed, _PERMUTED_LABELS))
        found = [self.compare(features, random.permutation(labels)) for _ in range(PERMUTATIONS)]
        return Accuracy(
            float(np.percentile([one.top1 for one in found], 99)),
            float(np.percentile([one.top5 for one in found], 99)),
            majority_of(labels),
        )

    def _few(self, labels: Labels) -> Labels:
        """At most FEW_OBJECTS objects, with FOLDS of each of their classes at least."""
        random = np.random.default_rng((self.seed, _FEW))
        if len(labels) <= FEW_OBJECTS:
            return np.arange(len(labels))
        chosen = random.permutation(len(labels))[:FEW_OBJECTS]
        counts = np.bincount(labels[chosen], minlength=int(labels.max()) + 1)
        return np.sort(chosen[counts[labels[chosen]] >= FOLDS])

    def _folds(self, labels: Labels) -> list[tuple[Labels, Labels]]:
        from sklearn.model_selection import StratifiedKFold

        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=self.seed)
        return list(folds.split(labels, labels))

    def _fit(self, features: Matrix, labels: Labels, trees: int, seed: int) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(
            trees,
            criterion="gini",
            max_features="sqrt",
            min_samples_leaf=2,
            random_state=seed,
            n_jobs=self.jobs,
        )
        return forest.fit(features, labels)

    def _tested(self, test: Labels) -> Labels:
        """At most TESTED_OBJECTS of these, drawn at random: objects are in the layout's order."""
        random = np.random.default_rng((self.seed, _TESTED))
        return np.sort(random.permutation(test)[:TESTED_OBJECTS])

    def _permuted(self, forest: Any, features: Matrix, labels: Labels) -> npt.NDArray[np.float64]:
        """By column: the top-1 accuracy that its permutation costs the forest."""
        random = np.random.default_rng((self.seed, _PERMUTED_COLUMNS))
        full = _hits(forest, features, labels)[0]
        lost = np.zeros(features.shape[1])
        for column in range(features.shape[1]):
            changed = features.copy()
            changed[:, column] = random.permutation(changed[:, column])
            lost[column] = full - _hits(forest, changed, labels)[0]
        return lost / len(labels)


def without_features(labels: Labels) -> Accuracy:
    """The accuracy of always naming the largest classes."""
    shares = np.sort(np.bincount(labels) / len(labels))[::-1]
    return Accuracy(float(shares[0]), float(shares[:TOP].sum()), float(shares[0]))


def majority_of(labels: Labels) -> float:
    """The share of the largest class."""
    return float(np.bincount(labels).max() / len(labels))


def _votes(forest: Any, features: Matrix) -> npt.NDArray[np.float64]:
    """The sums of the trees' probabilities, shape (objects, classes).

    Added up in the order of the trees: the forest's own sum depends on its threads.
    """
    votes = np.zeros((len(features), len(forest.classes_)))
    for tree in forest.estimators_:
        votes += tree.predict_proba(features)
    return votes


def _hits(forest: Any, features: Matrix, labels: Labels) -> npt.NDArray[np.float64]:
    """How many objects a forest predicts: as the best class, as one of the TOP best."""
    places = np.searchsorted(forest.classes_, labels)
    known = forest.classes_[np.minimum(places, len(forest.classes_) - 1)] == labels
    return _count_hits(_votes(forest, features), np.where(known, places, -1))


def _count_hits(votes: npt.NDArray[np.float64], labels: Labels) -> npt.NDArray[np.float64]:
    likely = np.argpartition(votes, -min(TOP, votes.shape[1]), axis=1)[:, -TOP:]
    best = votes.argmax(axis=1) == labels
    return np.array([best.sum(), (likely == labels[:, None]).any(axis=1).sum()], float)
