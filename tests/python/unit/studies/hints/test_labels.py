"""Classes of objects: small communities are merged, and samples keep whole classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from halo.studies.hints.labels import (
    DROPPED,
    MAX_CLASSES,
    MIN_CLASSES,
    MIN_MEMBERS,
    classes_at,
    sample,
    usable_levels,
)


def nested_communities(
    random: np.random.Generator, objects: int, levels: int
) -> npt.NDArray[np.uint32]:
    """Communities at random: objects of one community share it at all coarser levels too."""
    found = [random.integers(0, max(1, objects // 4), objects)]
    for _ in range(levels - 1):
        parents = random.integers(0, max(1, found[-1].max() // 3 + 1), found[-1].max() + 1)
        found.append(parents[found[-1]])
    return np.array(found, np.uint32)


def reference_classes(communities: npt.NDArray[np.uint32], level: int) -> dict[int, set[int]]:
    """The members of each class by its first member, one step at a time."""
    label = {at: (level, int(communities[level - 1, at])) for at in range(communities.shape[1])}
    members: dict[tuple[int, int], set[int]] = {}
    for coarser in range(level, len(communities) + 1):
        members = {}
        for at, name in label.items():
            members.setdefault(name, set()).add(at)
        if coarser == len(communities):
            break
        for mine in members.values():
            if len(mine) < MIN_MEMBERS:
                for at in mine:
                    label[at] = (coarser + 1, int(communities[coarser, at]))
    return {min(mine): mine for mine in members.values() if len(mine) >= MIN_MEMBERS}


def test_classes_equal_those_merged_step_by_step() -> None:
    random = np.random.default_rng(1)
    for _ in range(60):
        communities = nested_communities(random, int(random.integers(1, 200)), 4)
        for level in range(1, 5):
            labels = classes_at(communities, level).labels
            found = {
                int(np.flatnonzero(labels == one)[0]): set(np.flatnonzero(labels == one).tolist())
                for one in set(labels.tolist()) - {DROPPED}
            }
            assert found == reference_classes(communities, level)


def test_usable_levels_have_enough_classes_and_differ() -> None:
    communities = nested_communities(np.random.default_rng(2), 4000, 6)
    levels = usable_levels(communities)
    assert levels
    assert all(MIN_CLASSES <= one.count <= MAX_CLASSES for one in levels)
    assert len({one.labels.tobytes() for one in levels}) == len(levels)


def test_singletons_and_one_community_are_not_usable() -> None:
    singletons = np.arange(300, dtype=np.uint32)[None]
    assert usable_levels(singletons) == []
    assert usable_levels(np.zeros((3, 300), np.uint32)) == []
    assert usable_levels(np.zeros((0, 300), np.uint32)) == []


def test_of_too_many_classes_some_are_kept() -> None:
    communities = np.repeat(np.arange(2000, dtype=np.uint32), 6)[None]
    (one,) = usable_levels(communities)
    assert one.count == MAX_CLASSES
    assert set(np.bincount(one.labels[one.labels != DROPPED])) == {6}


def test_a_sample_has_whole_classes_if_these_are_small() -> None:
    communities = np.repeat(np.arange(100, dtype=np.uint32), 20)[None]
    classes = classes_at(communities, 1)
    chosen = sample(classes, 3, most=500)
    assert 400 < len(chosen) <= 500
    assert set(np.bincount(classes.labels[chosen])) == {0, 20}
    assert (chosen == sample(classes, 3, most=500)).all()
    assert (chosen != sample(classes, 4, most=500)).any()


def test_a_sample_of_large_classes_has_some_of_each() -> None:
    communities = np.repeat(np.arange(10, dtype=np.uint32), 1000)[None]
    classes = classes_at(communities, 1)
    chosen = sample(classes, 3, most=500)
    assert set(np.bincount(communities[0, chosen])) == {50}
    few = sample(classes, 3, work=2000)
    assert set(np.bincount(communities[0, few])) == {20}
    assert (np.diff(chosen) > 0).all()


def test_a_level_that_is_asked_for_may_equal_a_finer_one() -> None:
    same = np.repeat(np.arange(10, dtype=np.uint32), 6)
    communities = np.stack([same, same])
    assert [one.level for one in usable_levels(communities)] == [1]
    assert [one.level for one in usable_levels(communities, with_equal=True)] == [1, 2]
