"""Structure splitting: the rules as published, the leaves of classes, the counts, the reasons."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from halo.studies.tracing.analyses.split.counts import PlaceUse, count_uses, touched
from halo.studies.tracing.analyses.split.findings import findings, reason
from halo.studies.tracing.analyses.split.rules import FieldUse, Finding, decide, decide_all
from halo.studies.tracing.analyses.split.split import split_classes
from halo.studies.tracing.analyses.split.types import Leaf, gaps, leaves_of, same_once
from support.samples.split import ARC, POINT, chosen, declared

Classes = list[tuple[int, list[FieldUse]]]


def reference(classes: Classes) -> list[tuple[bool, set[int]]]:
    """The algorithm told once more, in fractions and in the order of the paper.

    For each class whether it is live, and the cold fields if it is split.
    """
    ls = sum(field.accesses for _, fields in classes for field in fields)
    c = sum(1 for _, fields in classes if sum(field.accesses for field in fields) > 0)
    found = []
    for size, fields in classes:
        a, f = sum(field.accesses for field in fields), len(fields)
        live = c > 0 and a > Fraction(ls, 100 * c)
        split: set[int] = set()
        if live and size > 8 and f > 2:
            cold = {i for i in range(f) if fields[i].accesses < Fraction(a, 2 * f)}
            if sum(fields[i].bytes for i in cold) > 8:
                hottest = max(fields[i].accesses for i in range(f) if i not in cold)
                coldness = sum(fields[i].accesses for i in cold)
                if Fraction(hottest - 2 * coldness, hottest) > Fraction(1, 2):
                    split = cold
                else:
                    cold = {i for i in range(f) if fields[i].accesses < Fraction(a, 5 * f)}
                    if sum(fields[i].bytes for i in cold) > 8:
                        split = cold
        found.append((live, split))
    return found


def random_classes(source: random.Random) -> Classes:
    """Skewed counts, and thresholds met exactly now and then."""
    classes: Classes = []
    for _ in range(source.randint(1, 6)):
        scale = source.choice([0, 3, 100, 100_000])
        fields = [
            FieldUse(
                source.choice([0, 1, 4, 8, 40]), source.randint(0, scale) // source.choice([1, 9])
            )
            for _ in range(source.randint(1, 9))
        ]
        classes.append((sum(field.bytes for field in fields), fields))
    return classes


def test_decisions_are_those_of_a_slow_reference() -> None:
    source, outcomes = random.Random(7), set()
    for _ in range(4000):
        classes = random_classes(source)
        for decision, (live, cold) in zip(decide_all(classes), reference(classes), strict=True):
            assert decision.live == live
            assert decision.split == bool(cold)
            if cold:
                assert {at for at, is_cold in enumerate(decision.cold) if is_cold} == cold
            outcomes.add((decision.finding, decision.divisor))
    rules = set(Finding) - {Finding.LIBRARY, Finding.NO_SMALLER}
    assert {finding for finding, _ in outcomes} == rules
    assert {(Finding.SPLIT, 2), (Finding.SPLIT, 5)} <= outcomes


def uses(*accesses: int, size: int = 8) -> list[FieldUse]:
    return [FieldUse(size, count) for count in accesses]


@pytest.mark.parametrize(
    ("size", "fields", "finding"),
    [
        (8, uses(90, 0, 0, size=2), Finding.TOO_SMALL),
        (9, uses(90, 0, 0, size=3), Finding.LITTLE_COLD),
        (16, uses(90, 0), Finding.TOO_FEW_FIELDS),
        (24, uses(90, 0, 0), Finding.SPLIT),
        (24, uses(30, 30, 30), Finding.ALL_HOT),
        (24, uses(90, 90, 0), Finding.LITTLE_COLD),
        # The hottest is, and is not, more than four times as hot as all cold ones together.
        (40, uses(81, 10, 10, 0, 0), Finding.SPLIT),
        (40, uses(40, 4, 4, 4, 4), Finding.TOO_WARM),
    ],
)
def test_the_edges_of_the_rules(size: int, fields: list[FieldUse], finding: Finding) -> None:
    assert decide(size, fields, live=True).finding is finding
    assert decide(size, fields, live=False).finding is Finding.NOT_LIVE


def test_marked_again_the_warmer_of_the_cold_fields_is_hot() -> None:
    """All but the first have less than 55/16, together too many; only the last less than 55/40."""
    found = decide(64, uses(40, 3, 3, 3, 3, 3, 0, 0), live=True)
    assert (found.finding, found.divisor) == (Finding.SPLIT, 5)
    assert found.cold == (False,) * 6 + (True, True)


def test_a_field_with_just_as_many_accesses_as_asked_for_is_hot() -> None:
    assert decide(40, uses(40, 5, 5, 0, 0), live=True).cold == (False, False, False, True, True)


def test_a_class_is_live_above_a_hundredth_of_its_share() -> None:
    """Of 200 accesses in two classes the second one needs more than one."""
    hot, decided = (16, uses(199, 0)), []
    for few in (1, 2):
        decided.append(decide_all([hot, (16, uses(few, 0)), (16, uses(0, 0))])[1].live)
    assert decided == [False, True]
    assert not decide_all([(16, uses(0, 0))])[0].live


def leaf_names(found: list[Leaf]) -> list[str]:
    return [leaf.name for leaf in found]


def test_nested_fields_are_leaves_and_arrays_are_whole() -> None:
    point = declared("point", 8, *POINT)
    outer = declared(
        "outer", 64, ("at", "point", 0, 8), ("many", "point[4]", 8, 32), ("next", "outer *", 40, 8)
    )
    found = leaves_of(outer, same_once([point, outer]))
    assert leaf_names(found) == ["at.x", "at.y", "many", "next"]
    assert [leaf.top for leaf in found] == [0, 0, 1, 2]
    assert gaps(found, 64) == [(48, 16)]


def test_fields_of_bases_are_the_derived_classes() -> None:
    """Whose own first field may lie in the padding of the base; an empty base is nothing."""
    base = declared("Base", 16, ("_vptr$Base", "int (**)()", 0, 8), ("a", "int", 8, 4))
    derived = declared("D", 16, ("", "Base", 0, 16), ("", "Empty", 0, 1), ("b", "int", 12, 4))
    found = leaves_of(derived, same_once([base, derived]))
    assert leaf_names(found) == ["_vptr$Base", "a", "b"]
    assert gaps(found, 16) == []


def test_a_class_without_a_byte_of_its_own_does_not_divide_its_holder() -> None:
    """As the deleter of a unique_ptr: both lie at one offset, and the pointer stays whole."""
    pointer = declared("P", 8, ("impl", "Empty", 0, 1), ("impl", "int *", 0, 8))
    outer = declared(
        "O", 40, ("p", "P", 0, 8), ("a", "long", 8, 8), ("b", "long", 16, 8), ("", "U", 24, 16)
    )
    assert leaf_names(leaves_of(outer, same_once([pointer, outer]))) == [
        "p.impl",
        "a",
        "b",
        "(nameless)",
    ]
    found = chosen(outer, "a", pointer)
    assert "    struct P p;\n" in found.suggestion


def test_a_union_is_one_field() -> None:
    union = declared("U", 8, ("whole", "long", 0, 8), ("half", "int", 0, 4), kind="union")
    outer = declared("outer", 16, ("u", "U", 0, 8), ("n", "long", 8, 8))
    known = same_once([union, outer])
    assert leaf_names(leaves_of(union, known)) == ["whole | half"]
    assert leaf_names(leaves_of(outer, known)) == ["u", "n"]


def test_bit_fields_that_share_a_byte_are_one_field() -> None:
    bits = declared(
        "bits", 8, ("a", "int", 0, 1), ("b", "int", 0, 2), ("c", "int", 2, 1), ("d", "int", 4, 4)
    )
    found = leaves_of(bits, {})
    assert leaf_names(found) == ["a, b", "c", "d"]
    assert (found[0].offset, found[0].bytes) == (0, 2)


def test_a_class_that_says_it_contains_itself_is_not_an_endless_loop() -> None:
    broken = declared("broken", 8, ("inner", "broken", 0, 8))
    assert len(leaves_of(broken, same_once([broken]))) == 1


def test_which_leaves_an_access_touches() -> None:
    found = leaves_of(
        declared("s", 24, ("a", "int", 0, 4), ("b", "long", 8, 8), ("data", "char[]", 24, 0)), {}
    )

    def slowly(offset: int, size: int) -> list[int]:
        covered = set(range(offset, offset + max(size, 1)))
        return [at for at, leaf in enumerate(found) if covered & set(range(leaf.offset, leaf.end))]

    for offset in range(16):
        for size in range(9):
            if offset + size <= 16:
                assert list(touched(found, offset, size)) == slowly(offset, size)
    assert list(touched(found, 24, 1)) == [2]
    assert list(touched(found, 90, 1)) == [2]


def test_the_same_class_of_two_source_files_is_one() -> None:
    classes = {1: declared("pair", 16, *POINT), 2: declared("pair", 16, *POINT)}
    found = count_uses(classes, [PlaceUse(1, 0, 4, 5), PlaceUse(2, 4, 4, 7), PlaceUse(9, 0, 4, 1)])
    assert [(use.declared.name, use.accesses) for use in found] == [("pair", (5, 7))]


def test_every_finding_has_its_reason() -> None:
    classes = {
        0: declared("arc", 72, *ARC),
        1: declared("small", 8, ("a", "int", 0, 4), ("b", "int", 4, 4)),
        2: declared("two", 16, ("a", "long", 0, 8), ("b", "long", 8, 8)),
        3: declared("rare", 24, ("a", "long", 0, 8), ("b", "long", 8, 8), ("c", "long", 16, 8)),
    }
    places = [PlaceUse(owner, 0, 4, 1000) for owner in (0, 1, 2)] + [PlaceUse(3, 0, 8, 1)]
    result = split_classes("p", count_uses(classes, places), {})
    told = {found.label: reason(found, result) for found in result.classes}
    assert told["arc"] == "marked aggressively: a field with fewer than 55.6 accesses is cold"
    assert told["small"] == "too small: 8 bytes, and more than 8 are required"
    assert told["two"] == "too few fields: 2, and more than 2 are required"
    assert told["rare"] == "not live: 1 accesses, and more than 7.5 are required"
    assert [found.label for found in result.chosen()] == ["arc", "small", "two"]
    assert [found.label for found in result.chosen("r*", everything=True)] == ["rare"]
    assert len(findings(result, result.chosen("two"))) == 1


def test_nothing_at_all() -> None:
    result = split_classes("p", [], {})
    assert "No access to a field" in findings(result, [])[0]
