"""Learning hints from contents of objects: columns, orders, the choice of fields, and rules."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest

from halo.captured.births import Births
from halo.captured.learn import KindHint, Learnt, kinds_with_values, learn_hints
from halo.captured.orders import order_by, togetherness
from halo.captured.recording import Recording
from halo.captured.refusals import Refusal, sentence
from halo.captured.rules import site_hints
from halo.captured.sites import CallSite, Field, Kind, Survey, SurveyedSite
from halo.captured.values import Column, column_of, decoded
from halo.hints.labels import DROPPED, Classes
from halo.layouts.contents_file import Contents
from halo.layouts.layout_file import Layout
from halo.locations.birth import BirthStore, BirthStores
from halo.locations.program import Load, Register
from halo.plan.hints.rules import ITSELF
from halo.plan.hints.sites import number_modules
from halo.plan.model import PlanModule
from halo.profile import Module, ObjectTrace
from halo.schema.hints import HintDimension
from halo.strategies import hints as strategy
from halo.strategies.factory import subject_of
from support.samples.plan import Sample

HEAP = 0x5000_0000
TRACE = ObjectTrace("x.objects", ((0, 0), (1, 1)))
MODULE = Module("/program", "ab" * 20)


def contents_of(words: npt.NDArray[np.uint64], contexts: npt.ArrayLike) -> Contents:
    """Objects of 40 bytes, 64 bytes apart, with these words."""
    count = len(words)
    padded = np.zeros((count, 16), np.uint64)
    padded[:, : words.shape[1]] = words
    return Contents(
        numbers=np.arange(1, count + 1, dtype=np.uint64),
        addresses=np.arange(count, dtype=np.uint64) * np.uint64(64) + np.uint64(HEAP),
        sizes=np.full(count, 40, np.uint32),
        contexts=np.asarray(contexts).astype(np.uint32),
        counts=np.full(count, 5, np.uint32),
        words=padded,
    )


def bits_of(values: npt.NDArray[np.float64]) -> npt.NDArray[np.uint64]:
    return values.astype("<f8").view("<u8")


def site(offset: int, context: int, fields: dict[int, int]) -> CallSite:
    stores = tuple(
        BirthStore(at, width, (Register(at // 8 % 6), Load(8, False, at)), False, offset)
        for at, width in fields.items()
    )
    return CallSite(MODULE, offset, 40, (context,), 2000, 100, BirthStores(stores, 64, True, ""))


def kind(*sites: CallSite) -> Kind:
    return Kind(sites, tuple(sorted(sites[0].fields, key=lambda one: one.offset)))


@pytest.mark.parametrize(
    ("values", "width", "expected"),
    [
        (bits_of(np.linspace(-3, 1000, 50)), 8, "f64"),
        (np.arange(50, dtype=np.uint64), 8, "i64"),
        (np.arange(50, dtype=np.uint64) * np.uint64(64) + np.uint64(HEAP), 8, ""),
        (np.linspace(0.5, 9, 50).astype("<f4").view("<u4").astype(np.uint64), 4, "f32"),
        (np.arange(50, dtype=np.uint64), 4, "i32"),
        (np.arange(50, dtype=np.uint64), 2, "i16"),
        (np.zeros(50, np.uint64), 8, "i64"),
    ],
)
def test_types_are_seen_in_the_bits(
    values: npt.NDArray[np.uint64], width: int, expected: str
) -> None:
    contents = contents_of(np.column_stack([np.zeros(50, np.uint64), values]), np.zeros(50))
    column = column_of(Field(8, width), contents, np.arange(50))
    assert column.kind == expected
    assert column.present.all()
    if expected:
        assert np.array_equal(column.numbers, decoded(values, expected))


def test_values_behind_what_was_read_are_absent() -> None:
    contents = contents_of(np.ones((50, 5), np.uint64), np.zeros(50))
    assert column_of(Field(32, 8), contents, np.arange(50)).present.all()
    assert not column_of(Field(36, 8), contents, np.arange(50)).present.any()
    beyond = column_of(Field(124, 8), contents, np.arange(50))
    assert np.isnan(beyond.numbers).all()


def test_togetherness_counts_neighbours_of_one_community() -> None:
    labels = np.array([0, 1, 0, 1, DROPPED, 0])
    levels = [Classes(1, labels)]
    assert togetherness(np.arange(6), levels) == 0
    by_label = order_by(np.array([0, 1, 0, 1, 1, 0], np.uint64))
    assert list(by_label) == [0, 2, 5, 1, 3, 4]
    assert togetherness(by_label, levels) == 3 / 4
    assert togetherness(np.arange(6), []) == 0


def grid(count: int, seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    return random.uniform(0, 100, count), random.uniform(0, 100, count)


def layout_of(communities: npt.NDArray[np.int64]) -> Layout:
    numbers = np.arange(1, len(communities) + 1, dtype=np.uint32)
    shuffled = np.random.default_rng(5).permutation(len(numbers))
    return Layout(numbers[shuffled], communities.astype(np.uint32)[shuffled][np.newaxis])


def learn(kinds: list[Kind], contents: Contents, communities: npt.NDArray[np.int64]) -> Learnt:
    return learn_hints(kinds, Recording(contents, TRACE, lambda: layout_of(communities)))


def test_a_pair_of_coordinates_is_found_among_other_fields() -> None:
    x, y = grid(2000, 1)
    other = np.random.default_rng(2).integers(0, 1000, 2000).astype(np.uint64)
    contents = contents_of(np.column_stack([other, bits_of(x), bits_of(y)]), np.zeros(2000))
    communities = (x // 10 * 10 + y // 10).astype(np.int64)
    places = kind(site(0x1000, 0, {0: 8, 8: 8, 16: 8}))
    learnt = learn([places], contents, communities)
    [found] = learnt.hints
    assert not learnt.refusals
    assert {dim.path for dim in found.hint} == {(8,), (16,)}
    assert [dim.scalar for dim in found.hint] == ["f64", "f64"]
    assert found.hinted > 0.5 > 0.1 > found.allocated


def test_half_of_a_word_is_found() -> None:
    """clang copies two fields of 4 bytes at once."""
    random = np.random.default_rng(8)
    low, high = (random.integers(0, 1000, 2000).astype(np.uint64) for _ in range(2))
    contents = contents_of((high << np.uint64(32) | low)[:, np.newaxis], np.zeros(2000))
    pairs = kind(site(0x1000, 0, {0: 8}))
    [found] = learn([pairs], contents, (low // 50).astype(np.int64)).hints
    assert [(dim.path, dim.scalar) for dim in found.hint] == [((0,), "i32")]
    [hint] = site_hints([found])
    assert hint.rule.keys[0].program == ((0, 0, 0), (3, 8, 0))


def test_of_equal_hints_the_cheapest_is_taken() -> None:
    numbers = np.random.default_rng(9).integers(0, 1000, 2000).astype(np.uint64)
    contents = contents_of(np.column_stack([numbers * np.uint64(3), numbers]), np.zeros(2000))
    program = (Register(0), Load(8, False, 16))
    stores = (
        BirthStore(0, 8, program, False, 0x1000),
        BirthStore(8, 8, (Register(0),), False, 0x1004),
    )
    both = CallSite(MODULE, 0x1000, 40, (0,), 2000, 100, BirthStores(stores, 64, True, ""))
    [found] = learn([kind(both)], contents, (numbers // np.uint64(50)).astype(np.int64)).hints
    assert [dim.path for dim in found.hint] == [(8,)]


def test_values_of_neighbours_are_found_behind_pointers() -> None:
    x, y = grid(2000, 3)
    nodes = np.column_stack([bits_of(x), bits_of(y)])
    chosen = np.random.default_rng(4).integers(0, 2000, 2000)
    pointers = (chosen * 64 + HEAP).astype(np.uint64)
    words = np.vstack([nodes, np.column_stack([pointers, np.zeros(2000, np.uint64)])])
    contents = contents_of(words, np.repeat([0, 1], 2000))
    cell = (x // 10 * 10 + y // 10).astype(np.int64)
    communities = np.concatenate([cell, cell[chosen]])
    node, user = kind(site(0x1000, 0, {0: 8, 8: 8})), kind(site(0x2000, 1, {0: 8}))
    first, second = learn([node, user], contents, communities).hints
    assert {dim.path for dim in first.hint} == {(0,), (8,)}
    assert {dim.path for dim in second.hint} == {(0, 0), (0, 8)}
    assert {dim.owner for dim in second.hint} == {node.name}


def test_a_pointer_is_to_the_last_object_at_its_address() -> None:
    contents = contents_of(np.zeros((6, 1), np.uint64), np.zeros(6))
    contents.addresses[[0, 2, 4]] = HEAP
    pointers = np.array([HEAP, HEAP, HEAP, HEAP + 64, HEAP + 1, HEAP, 1 << 50], np.uint64)
    present = np.array([True] * 5 + [False, True])
    column = Column(Field(0, 8), pointers, present, "")
    before = np.array([1, 3, 4, 6, 6, 6, 6], np.uint64)  # numbers begin at 1
    assert list(Births(contents).rows_at(column, before)) == [-1, 0, 2, 1, -1, -1, -1]


@pytest.mark.parametrize(
    ("why", "refusal"),
    [
        ("no correlation", Refusal.UNRELATED),
        ("in the order of allocation", Refusal.UNRELATED),
        ("few objects", Refusal.FEW),
        ("one community", Refusal.COMMUNITIES),
    ],
)
def test_there_is_no_hint_if(why: str, refusal: Refusal) -> None:
    count = 40 if why == "few objects" else 1000
    values = np.random.default_rng(6).uniform(0, 100, count)
    contents = contents_of(bits_of(values)[:, np.newaxis], np.zeros(count))
    communities = np.random.default_rng(7).integers(0, 20, count)
    if why == "in the order of allocation":
        communities = np.arange(count) // 50
        values = np.arange(count).astype(float) + 0.5
        contents = contents_of(bits_of(values)[:, np.newaxis], np.zeros(count))
    if why == "few objects":
        communities = (values // 20).astype(np.int64)
    if why == "one community":
        communities = np.zeros(count, np.int64)
    places = kind(site(0x1000, 0, {0: 8}), site(0x3000, 0, {0: 8}))
    learnt = learn([places], contents, communities)
    assert learnt == Learnt((), ((places, refusal),))
    assert learnt.refused == Counter({refusal: 2})


def test_a_recording_without_contents_has_no_hints() -> None:
    contents = contents_of(np.zeros((0, 1), np.uint64), np.zeros(0))
    places = kind(site(0x1000, 0, {0: 8}))
    learnt = learn([places], contents, np.zeros(0, np.int64))
    assert learnt == Learnt((), ((places, Refusal.FEW),))


@pytest.mark.parametrize("value", [HEAP, 7])
def test_communities_are_not_needed_without_values(value: int) -> None:
    pointers = np.arange(100, dtype=np.uint64) * np.uint64(64 if value == HEAP else 0)
    contents = contents_of((pointers + np.uint64(value))[:, np.newaxis], np.zeros(100))

    def communities() -> Layout:
        raise AssertionError

    places = kind(site(0x1000, 0, {0: 8}))
    learnt = learn_hints([places], Recording(contents, TRACE, communities))
    assert learnt == Learnt((), ((places, Refusal.POINTERS),))


def test_the_most_frequent_cause_is_said_first() -> None:
    causes = Counter({Refusal.FEW: 1, Refusal.UNKNOWN: 3})
    assert sentence(causes) == (
        "No call site with 1% of the accesses has a hint: no value known at the call (3 sites),"
        " fewer than 50 accessed objects with contents (1 site)."
    )
    assert sentence(Counter()) == "No call site of the allocator has 1% of the accesses to objects."


def test_a_cause_is_also_said_about_one_call_site() -> None:
    stores = BirthStores((), 0, False, "a call")
    code = CallSite(MODULE, 0x1000, 40, (0,), 2000, 100, stores)
    unknown = SurveyedSite(0, (0,), 2000, 100, code, Refusal.UNKNOWN)
    assert unknown.obstacle == (
        "It has no value known at the call: the code behind it is followed up to a call."
    )
    rare = SurveyedSite(0, (0,), 2000, 1, None, Refusal.RARE)
    assert rare.obstacle == "It has less than 1% of the accesses."
    assert Survey((unknown, rare)).refused == Counter({Refusal.UNKNOWN: 1})
    assert SurveyedSite(0, (0,), 2000, 100, code).obstacle == ""


def dimension(owner: str, *path: int, width: float = 2.0) -> HintDimension:
    return HintDimension(f"+{path[-1]}", width, owner, path, "f64")


def test_rules_of_equal_fields_share_a_context_and_widths() -> None:
    node = kind(site(0x1000, 0, {0: 8}), site(0x3000, 2, {0: 8}))
    user = kind(site(0x2000, 1, {0: 8, 16: 8}))
    other = kind(site(0x500, 3, {8: 4}))
    found = [
        KindHint(node, (dimension(node.name, 0),), 1000, 0.1, 0.8),
        KindHint(user, (dimension(node.name, 16, 0, width=0.5),), 1000, 0.1, 0.8),
        KindHint(other, (HintDimension("+8", 3.0, other.name, (8,), "i32"),), 1000, 0.1, 0.8),
    ]
    hints = site_hints(found)
    assert [one.rule.context for one in hints] == [0, 0, 0, 1]
    assert [one.rule.keys[0].width for one in hints] == [0.5, 0.5, 0.5, 3.0]
    assert [one.rule.keys[0].behind for one in hints] == [ITSELF, ITSELF, 0, ITSELF]
    assert [one.rule.keys[0].kind for one in hints] == ["f64", "f64", "f64", "i32"]
    assert hints[2].rule.keys[0].program == ((0, 2, 0), (3, 8, 16))
    assert all(one.rule.avoids_frame and one.rule.frame_bytes == 64 for one in hints)
    modules, rules = number_modules((PlanModule("cd" * 20),), hints)
    assert [module.build_id for module in modules] == ["cd" * 20, MODULE.build_id]
    assert [(rule.module, rule.offset) for rule in rules] == [
        (1, 0x500),
        (1, 0x1000),
        (1, 0x2000),
        (1, 0x3000),
    ]


def different(count: int) -> npt.NDArray[np.uint64]:
    return np.arange(count, dtype=np.uint64) % np.uint64(7)


POINTERS = np.arange(2000, dtype=np.uint64) * np.uint64(64) + np.uint64(HEAP)


@pytest.mark.parametrize(
    ("values", "has_values"),
    [
        (different(2000), True),
        (np.full(2000, 3, np.uint64), False),
        (POINTERS, False),
        (different(49), False),
        (different(50), True),
    ],
    ids=["different", "constant", "pointers", "few", "enough"],
)
def test_values_at_the_call_are_worth_studying_if_they_differ(
    monkeypatch: pytest.MonkeyPatch, values: npt.NDArray[np.uint64], has_values: bool
) -> None:
    """Without the communities of objects, which are expensive; the figure is of accesses."""

    def communities() -> Layout:
        raise AssertionError("the communities were found")

    contents = contents_of(values[:, np.newaxis], np.zeros(len(values)))
    numbers = kind(site(0x1000, 0, {0: 8}))
    recording = Recording(contents, TRACE, communities)
    assert kinds_with_values([numbers], recording) == ([numbers] if has_values else [])
    monkeypatch.setattr(strategy, "checked_trace", lambda *_: TRACE)
    monkeypatch.setattr(strategy, "survey", lambda _: Survey((), (numbers,)))
    monkeypatch.setattr(strategy, "recording_of", lambda *_: recording)
    sample = Sample()
    sample.add([1], accesses=400)
    found = strategy.prospect(subject_of(sample.profile()))
    assert found.could_matter == has_values
    if has_values:
        assert found.why == (
            "1 call site has known values that differ between objects, with 25% of the accesses"
        )
    else:
        assert "no call site with 1% of the accesses has a hint: " in found.why
        assert found.why.endswith(" (1 site)")


def test_call_sites_without_values_need_no_contents(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = SurveyedSite(0, (0,), 9, 9, refusal=Refusal.UNKNOWN)
    monkeypatch.setattr(strategy, "checked_trace", lambda *_: TRACE)
    monkeypatch.setattr(strategy, "survey", lambda _: Survey((refused,), ()))
    monkeypatch.setattr(strategy, "recording_of", lambda *_: pytest.fail("contents were read"))
    found = strategy.prospect(subject_of(Sample().profile()))
    assert not found.could_matter
    assert found.why.endswith("has a hint: no value known at the call (1 site)")
