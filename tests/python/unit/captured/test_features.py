"""Fields and features of objects whose type is not known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from halo.captured.features import Table
from halo.captured.fields import fields_of
from halo.captured.recording import Recording
from halo.captured.sites import Field
from halo.hints.features import META, PRIMARY, SECONDARY
from halo.layouts.contents_file import Contents
from halo.layouts.layout_file import Layout
from halo.locations.birth import BirthStore, BirthStores
from halo.locations.program import Constant, Register
from halo.profile import ObjectTrace

HEAP = 0x5000_0000
COUNT = 60


def contents_of(words: npt.NDArray[np.uint64], size: int, contexts: npt.ArrayLike = 0) -> Contents:
    """Objects of that size, 64 bytes apart, in order of their numbers from 1."""
    count = len(words)
    padded = np.zeros((count, 16), np.uint64)
    padded[:, : words.shape[1]] = words
    return Contents(
        numbers=np.arange(1, count + 1, dtype=np.uint64),
        addresses=np.arange(count, dtype=np.uint64) * np.uint64(64) + np.uint64(HEAP),
        sizes=np.full(count, size, np.uint32),
        contexts=np.broadcast_to(np.asarray(contexts), count).astype(np.uint32),
        counts=np.full(count, -(-size // 8), np.uint32),
        words=padded,
    )


def recording_of(contents: Contents) -> Recording:
    """All objects are accessed, and the layout has them in descending order."""
    numbers = contents.numbers[::-1].astype(np.uint32)
    layout = Layout(numbers, np.zeros((1, len(numbers)), np.uint32))
    return Recording(contents, TRACE, lambda: layout)


TRACE = ObjectTrace("x.objects", ((5, 0), (7, 1)))


def doubles(count: int = COUNT) -> npt.NDArray[np.uint64]:
    return np.linspace(0.25, 9, count).astype("<f8").view("<u8")


def halves(low: int, high: int) -> npt.NDArray[np.uint64]:
    return np.full(COUNT, high << 32 | low, np.uint64)


def test_fields_are_those_of_the_code_then_those_that_the_bits_look_like() -> None:
    pointers = np.full(COUNT, HEAP + 64, np.uint64)
    words = np.column_stack([halves(7, 9), doubles(), pointers, halves(3, 4), halves(1, 0)])
    contents = contents_of(words, 38)
    stores = BirthStores(
        (
            BirthStore(4, 4, None, False, 0),
            BirthStore(24, 8, (Constant(0),), True, 0),
            BirthStore(2, 2, (Register(0),), False, 0),
        ),
        0,
        False,
        "",
    )
    found = fields_of([Field(0, 2)], [stores], contents, np.arange(COUNT))
    assert [(one.offset, one.width) for one in found] == [
        (0, 2),
        (2, 2),
        (4, 4),
        (8, 8),
        (16, 8),
        (24, 4),
        (28, 4),
        (32, 4),
        (36, 2),
    ]


def test_a_word_with_two_numbers_is_two_fields() -> None:
    numbers = np.arange(COUNT, dtype=np.uint64)
    words = np.column_stack([numbers << np.uint64(32) | np.uint64(7), numbers, doubles()])
    contents = contents_of(words, 24)
    found = fields_of([Field(at, 8) for at in (0, 8, 16)], [], contents, np.arange(COUNT))
    assert [(one.offset, one.width) for one in found] == [(0, 4), (4, 4), (8, 8), (16, 8)]


def test_rows_are_those_with_a_community() -> None:
    contents = contents_of(doubles()[:, np.newaxis], 8, np.arange(COUNT) % 2)
    whole = recording_of(contents)
    rows, places = whole.placed(whole.rows_of([5]))
    assert (contents.contexts[rows] == 0).all() and len(rows) == COUNT / 2
    assert (whole.layout.objects[places] == contents.numbers[rows]).all()
    layout = Layout(whole.layout.objects[:4], np.zeros((1, 4), np.uint32))
    few = Recording(contents, TRACE, lambda: layout)
    rows, places = few.placed(few.rows_of([5, 7]))
    assert sorted(contents.numbers[rows]) == sorted(few.layout.objects)
    assert list(contents.numbers[rows]) == sorted(contents.numbers[rows])
    for contexts, size in (([6], 0), ([5], 16)):
        assert len(whole.rows_of(contexts, size)) == 0


def table(recording: Recording, context: int, fields: dict[Field, bool]) -> Table:
    rows, places = recording.placed(recording.rows_of([context]))
    return Table(f"t{context}", recording, rows, places, fields)


def test_features_are_fields_facts_and_fields_behind_pointers() -> None:
    values = doubles()
    chosen = np.random.default_rng(1).integers(0, COUNT, COUNT)
    pointers = (chosen * 64 + HEAP).astype(np.uint64)
    pointers[0], pointers[1] = 0, HEAP + 64 * (COUNT + 9)  # none, and a younger object
    words = np.concatenate([values, pointers])[:, np.newaxis]
    recording = recording_of(contents_of(words, 8, np.repeat([0, 1], COUNT)))
    node = table(recording, 5, {Field(0, 8): True})
    user = table(recording, 7, {Field(0, 8): True})
    (own,) = node.primary
    assert (own.name, own.group, own.at_birth) == ("+0 f64", PRIMARY, True)
    assert np.array_equal(own.values, values.view("<f8"))
    assert user.primary == []
    (behind,) = user.secondary({0: node, 1: user})
    assert (behind.name, behind.group, behind.at_birth) == ("+0->+0 f64", SECONDARY, True)
    assert behind.place.path == (0, 0)
    assert np.isnan(behind.values[:2]).all()
    assert np.array_equal(behind.values[2:], values.view("<f8")[chosen[2:]])
    assert user.secondary({1: user}) == []
    late = table(recording, 7, {Field(0, 8): False})
    assert not late.secondary({0: node})[0].at_birth
    assert {one.group for one in node.meta} == {META}
    known = {one.name: one.at_birth for one in node.meta}
    assert known["size"] and not known["address"]


def test_features_of_some_objects_are_in_their_order() -> None:
    recording = recording_of(contents_of(doubles()[:, np.newaxis], 8))
    node = table(recording, 5, {Field(0, 8): True})
    (some,) = node.of(node.primary, np.array([9, 3, 30]))
    assert np.array_equal(some.values, node.primary[0].values[[8, 2, 29]])
