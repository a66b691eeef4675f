"""Classes to predict: the communities of objects at a level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MIN_MEMBERS = 5
MIN_CLASSES, MAX_CLASSES = 8, 512
MAX_OBJECTS = 20_000
MAX_WORK = 300_000
"""Objects times classes of one forest: its time grows with both."""
FEW_CLASSES = 64
DROPPED = -1

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Classes:
    """A level, 1 for the finest, and the class of each object, or DROPPED."""

    level: int
    labels: Labels

    @property
    def count(self) -> int:
        return int(self.labels.max(initial=DROPPED)) + 1


def classes_at(communities: npt.NDArray[np.uint32], level: int) -> Classes:
    """The classes of objects at a level, from 1; `communities` has shape (levels, objects).

    Classes of fewer than MIN_MEMBERS become one with the others of their parent that are as small,
    level by level. Those that remain small at the coarsest level are dropped.
    """
    labels = communities[level - 1].astype(np.int64)
    for coarser in range(level, len(communities)):
        small = _is_small(labels)
        if not small.any():
            break
        # Numbers of their own, so that they never meet a class of another level.
        first = int(labels.max()) + 1
        labels[small] = first + communities[coarser][small]
    small = _is_small(labels)
    kept = np.unique(labels[~small], return_inverse=True)[1]
    labels[small] = DROPPED
    labels[~small] = kept
    return Classes(level, labels)


def _is_small(labels: Labels) -> npt.NDArray[np.bool_]:
    """Whether each object's class has fewer than MIN_MEMBERS."""
    _, number, counts = np.unique(labels, return_inverse=True, return_counts=True)
    small: npt.NDArray[np.bool_] = counts[number] < MIN_MEMBERS
    return small


def usable_levels(communities: npt.NDArray[np.uint32], with_equal: bool = False) -> list[Classes]:
    """The classes of all levels with MIN_CLASSES to MAX_CLASSES of them, the finest first.

    Of levels with equal classes it is the finest, unless `with_equal`. If even the coarsest level
    has more, it is taken with MAX_CLASSES of its classes.
    """
    found: list[Classes] = []
    for level in range(1, len(communities) + 1):
        one = classes_at(communities, level)
        same = not with_equal and found and np.array_equal(found[-1].labels, one.labels)
        if MIN_CLASSES <= one.count <= MAX_CLASSES and not same:
            found.append(one)
    if not found and len(communities):
        one = classes_at(communities, len(communities))
        if one.count > MAX_CLASSES:
            return [_with_fewer(one)]
    return found


def _with_fewer(classes: Classes) -> Classes:
    """The same with MAX_CLASSES classes, evenly by number; the others are dropped."""
    kept = np.linspace(0, classes.count - 1, MAX_CLASSES).astype(np.int64)
    number = np.full(classes.count, DROPPED, np.int64)
    number[kept] = np.arange(MAX_CLASSES)
    labels = np.where(classes.labels == DROPPED, DROPPED, number[classes.labels])
    return Classes(classes.level, labels)


def sample(
    classes: Classes, seed: int, most: int = MAX_OBJECTS, work: int = MAX_WORK
) -> npt.NDArray[np.int64]:
    """Indices of objects of whole classes, drawn at random, ascending.

    They are at most `most`, and their number times that of their classes is at most `work`. If
    fewer than MIN_CLASSES classes fit, some objects of each of at most FEW_CLASSES are taken.
    """
    kept = np.flatnonzero(classes.labels != DROPPED)
    random = np.random.default_rng(seed)
    counts = np.bincount(classes.labels[kept])
    drawn = random.permutation(len(counts))
    objects = np.cumsum(counts[drawn])
    fits = (objects <= most) & (objects * np.arange(1, len(counts) + 1) <= work)
    whole = drawn[: np.count_nonzero(fits)]
    if len(whole) >= MIN_CLASSES:
        return kept[np.isin(classes.labels[kept], whole)]
    few = drawn[:FEW_CLASSES]
    share = max(min(most, work // len(few)) // len(few), MIN_MEMBERS)
    shuffled = random.permutation(kept[np.isin(classes.labels[kept], few)])
    return np.sort(shuffled[_place_in_class(classes.labels[shuffled]) < share])


def _place_in_class(labels: Labels) -> npt.NDArray[np.int64]:
    """How many objects before each one have its class."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], labels[order], side="left")
    place = np.empty(len(labels), np.int64)
    place[order] = np.arange(len(labels)) - starts
    return place
