"""Studies one type: what predicts the communities of its objects, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from halo.studies.hints.call import call_text, dimensions_of
from halo.studies.hints.document import (
    HintAccuracy,
    HintDimension,
    HintFeature,
    HintForest,
    TypeHint,
)
from halo.studies.hints.features import META, POSITION, SIZE, Feature, first_pointers, noise
from halo.studies.hints.forest import Accuracy, Labels, Learner, matrix_of
from halo.studies.hints.kinds import Kind
from halo.studies.hints.labels import Classes, sample, usable_levels
from halo.studies.hints.verdict import (
    ENOUGH,
    Findings,
    Verdict,
    sentence_of,
    verdict_of,
    verdict_of_accesses,
)

MIN_OBJECTS = 50
MAX_DIMENSIONS = 3
CANDIDATES = 5
"""Features of which sets are tried as a hint."""

Communities = npt.NDArray[np.uint32]
Objects = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Samples:
    """Objects that are not arrays, of one type, with their communities.

    `objects` has their numbers, shape (objects); `communities` has shape (levels, objects).
    """

    objects: Objects
    communities: Communities


@dataclass(frozen=True)
class Question:
    """A level with its classes, of a sample of objects: numbers, and labels from 0."""

    level: int
    objects: Objects
    labels: Labels

    @property
    def classes(self) -> int:
        return int(self.labels.max()) + 1


def question_of(samples: Samples, classes: Classes, seed: int) -> Question:
    """A sample of the classes' objects."""
    chosen = sample(classes, seed)
    labels = np.unique(classes.labels[chosen], return_inverse=True)[1]
    return Question(classes.level, samples.objects[chosen], labels)


def why_not(samples: Samples, levels: Sequence[Classes], level: int = 0) -> str:
    """Why nothing can be learnt, as a sentence; empty if something can. `level` as in `Study`."""
    if len(samples.objects) < MIN_OBJECTS:
        return (
            f"Only {len(samples.objects)} accessed objects are not arrays; at least {MIN_OBJECTS}"
            " are needed."
        )
    if level and level not in {one.level for one in levels}:
        usable = ", ".join(str(one.level) for one in levels)
        return (
            f"Level {level} does not have 8 to 512 communities of at least 5 of these objects;"
            f" levels that do: {usable or 'none'}."
        )
    if not levels:
        return (
            "None of the levels has 8 to 512 communities of at least 5 of these objects, so there"
            " is nothing to predict."
        )
    return ""


@dataclass(frozen=True)
class Study:
    """The study of one type; `level` restricts it to one, 0: the best.

    `features` returns all features of objects of the type, and `places` where the program allocates
    them.
    """

    kind: Kind
    features: Callable[[Objects], list[Feature]]
    places: Callable[[], tuple[str, ...]]
    learner: Learner
    level: int = 0

    def judge(self, samples: Samples) -> TypeHint:
        """The verdict; `samples` has the accessed objects that are not arrays."""
        ruled_out = verdict_of_accesses(self.kind)
        if ruled_out is not None:
            return unjudged(self.kind, sentence_of(ruled_out), ruled_out.value)
        levels = usable_levels(samples.communities, with_equal=bool(self.level))
        reason = why_not(samples, levels, self.level)
        if reason:
            return unjudged(self.kind, reason)
        if self.level:
            levels = [one for one in levels if one.level == self.level]
        questions = [question_of(samples, one, self.learner.seed) for one in levels]
        one = len(questions) == 1
        return self._learn(questions[0] if one else max(questions, key=self._promise))

    def _promise(self, question: Question) -> float:
        """The normalised accuracy at a level, by a small forest."""
        matrix = self._matrix(self._usable(question, self.features(question.objects)))
        return self.learner.compare(matrix, question.labels).normalised

    def _usable(self, question: Question, found: Sequence[Feature]) -> list[Feature]:
        usable = [one for one in found if one.usable]
        return [*usable, noise(len(question.objects), self.learner.seed)]

    @staticmethod
    def _matrix(features: Sequence[Feature]) -> npt.NDArray[np.float32]:
        return matrix_of([one.values for one in features])

    def _learn(self, question: Question) -> TypeHint:
        found, labels = self.features(question.objects), question.labels
        features = self._usable(question, found)
        unseen = tuple(one.name for one in found if one.is_unseen)
        learnt = self.learner.learn(self._matrix(features), labels)
        ranked = sorted(zip(features, learnt.gini, learnt.permutation, strict=True), key=_rank)
        known = [one for one, _, _ in ranked if one.at_birth and one.group != META]
        permuted = self.learner.permuted(self._matrix(features), labels)
        of_known = self._known(known, labels)
        findings = Findings(
            learnt.accuracy.normalised,
            permuted.normalised,
            of_known.normalised,
            self._of_names(features, POSITION, labels),
            self._of_names(features, (SIZE,), labels),
        )
        verdict = verdict_of(findings)
        chosen = self._smallest(known, labels) if verdict is Verdict.USE_HINT else ()
        hint = self._dimensions(chosen)
        return TypeHint(
            type=self.kind.type,
            objects=self.kind.objects,
            accesses=self.kind.accesses,
            verdict=verdict.value,
            why=sentence_of(verdict),
            level=question.level,
            classes=question.classes,
            learnt_from=len(labels),
            trees=learnt.trees,
            forests=tuple(
                HintForest(trees, one.top1, one.top5) for trees, one in learnt.forests.items()
            ),
            accuracy=_shares(learnt.accuracy),
            permuted=_shares(permuted),
            known=_shares(of_known),
            features=tuple(_described(*one) for one in ranked),
            unseen=unseen,
            hint=hint,
            call=call_text(self.kind.type, hint) if hint else "",
            places=self.places() if hint else (),
        )

    def _known(self, known: Sequence[Feature], labels: Labels) -> Accuracy:
        if not known:
            return self.learner.compare(np.zeros((len(labels), 0), np.float32), labels)
        return self.learner.quick().learn(self._matrix(known), labels).accuracy

    def _of_names(self, features: Sequence[Feature], names: Sequence[str], labels: Labels) -> float:
        """The normalised accuracy of these features alone."""
        chosen = [one for one in features if one.name in names]
        if not chosen:
            return 0.0
        return self.learner.quick().learn(self._matrix(chosen), labels).accuracy.normalised

    def _smallest(self, known: Sequence[Feature], labels: Labels) -> tuple[Feature, ...]:
        """The smallest set of known features with ENOUGH of their accuracy together, or else the
        best set of MAX_DIMENSIONS.

        Sets are of the CANDIDATES most important ones, and the best of a size is taken. Of the
        pointers in an array, the first stands for all: it is stored first.
        """
        single = first_pointers(known)
        candidates = single[:CANDIDATES]
        enough = ENOUGH * self.learner.compare(self._matrix(single), labels).normalised
        best: tuple[Feature, ...] = ()
        best_value = -1.0
        for size in range(1, MAX_DIMENSIONS + 1):
            for one in combinations(candidates, size):
                value = self.learner.compare(self._matrix(one), labels).normalised
                if value > best_value:
                    best, best_value = one, value
            if best_value >= enough:
                break
        return best

    def _dimensions(self, chosen: Sequence[Feature]) -> tuple[HintDimension, ...]:
        if not chosen:
            return ()
        return dimensions_of(chosen, self.kind.single_bytes)


def unjudged(kind: Kind, why: str, verdict: str = "") -> TypeHint:
    """What is said about a type from which nothing was learnt."""
    return TypeHint(
        type=kind.type,
        objects=kind.objects,
        accesses=kind.accesses,
        verdict=verdict,
        why=why,
        level=0,
        classes=0,
        learnt_from=0,
        trees=0,
        forests=(),
        accuracy=None,
        permuted=None,
        known=None,
        features=(),
        hint=(),
        call="",
        unseen=(),
        places=(),
    )


def _rank(one: tuple[Feature, float, float]) -> tuple[float, float]:
    _, gini, permutation = one
    return (-permutation, -gini)


def _shares(accuracy: Accuracy) -> HintAccuracy:
    return HintAccuracy(top1=accuracy.top1, top5=accuracy.top5, majority=accuracy.majority)


def _described(feature: Feature, gini: float, permutation: float) -> HintFeature:
    return HintFeature(
        name=feature.name,
        group=feature.group,
        coverage=feature.coverage,
        known_share=feature.known_share,
        at_birth=feature.at_birth,
        gini=gini,
        permutation=permutation,
    )
