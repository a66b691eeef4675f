"""Structure splitting: the rules as published, the leaves of classes, the counts, the C text."""

from __future__ import annotations

import random
import subprocess
from fractions import Fraction

import pytest
from split_samples import ARC, NODE, POINT, declared

from halo.analyses.split import ArrayUse, ClassSplit, split_classes
from halo.analyses.split_counts import PlaceUse, count_uses, touched
from halo.analyses.split_layout import alignment, laid_out
from halo.analyses.split_rules import FieldUse, Finding, decide, decide_all
from halo.analyses.split_text import declare, identifier
from halo.analyses.split_types import DeclaredClass, Leaf, gaps, leaves_of, same_once
from halo.analyses.split_words import alternative, findings, reason

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
    assert {finding for finding, _ in outcomes} == set(Finding)
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


def test_a_class_that_says_it_contains_itself_is_no_endless_loop() -> None:
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


def arc(**more: ArrayUse) -> ClassSplit:
    classes = {
        0: declared("arc", 72, *ARC),
        1: declared("point", 8, *POINT),
        2: declared("node", 40, *NODE),
    }
    places = [PlaceUse(0, 0, 4, 4000), PlaceUse(0, 24, 8, 12), PlaceUse(0, 48, 4, 6)]
    found = split_classes("mcf", count_uses(classes, places), more)
    assert [it.label for it in found.classes] == ["arc"]
    return found.classes[0]


def test_the_arc_of_the_thesis_is_split() -> None:
    """One hot field of ten; 4 bytes and a pointer are 16, so that 4 lie in a line."""
    found = arc()
    assert found.parts is not None
    assert (found.parts.hot_bytes, found.parts.cold_bytes) == (16, 64)
    assert [leaf.name for leaf in found.parts.hot] == ["ident"]
    # The nested structure is cold as a whole, so it stays one.
    assert "place" in [leaf.name for leaf in found.parts.cold]
    assert found.indirect == 18
    assert alternative(found) == ""


def test_arrays_have_an_alternative() -> None:
    found = arc(arc=ArrayUse(allocations=1, fewest=1000, most=1000))
    assert "structure of arrays, one for ident alone" in alternative(found)
    assert alternative(arc(arc=ArrayUse(allocations=2, fewest=1, most=1000))) == ""


def compiles(text: str, before: str, *flags: str) -> None:
    subprocess.run(
        ["gcc", "-fsyntax-only", "-Wall", "-Werror", *flags, "-"],
        input=before + text,
        text=True,
        check=True,
    )


def test_the_suggested_text_is_c_and_has_the_sizes_that_it_says() -> None:
    text = arc().suggestion
    sizes = '_Static_assert(sizeof(struct arc) == 16 && sizeof(struct arc_cold) == 64, "");\n'
    compiles(text + sizes, "struct arc; struct node; struct point { int x, y; };\n", "-xc")
    assert "struct node *tail;" in text and "int (*compare)(const struct arc *);" in text


def chosen(whole: DeclaredClass, hot: str, *others: DeclaredClass) -> ClassSplit:
    leaves = leaves_of(whole, same_once([whole, *others]))
    place = next(leaf for leaf in leaves if leaf.name == hot)
    classes = dict(enumerate([whole, *others]))
    uses = count_uses(classes, [PlaceUse(0, place.offset, place.bytes, 1000)])
    return split_classes("p", uses, {}).classes[0]


TYPES = (
    *(("char", 1, 1), ("short", 2, 2), ("int", 4, 4), ("long", 8, 8), ("double", 8, 8)),
    *(("char[13]", 13, 1), ("short[3]", 6, 2), ("int[2][5]", 40, 4), ("void *", 8, 8)),
    *(("void (*)(int)", 8, 8), ("float[3]", 12, 4), ("long double", 16, 16)),
)


def random_structure(source: random.Random, name: str) -> DeclaredClass:
    """Laid out as the ABI says."""
    fields, at, strictest = [], 0, 1
    for number in range(source.randint(3, 14)):
        type_, size, align = source.choice(TYPES)
        at = -(-at // align) * align
        fields.append((f"f{number}", type_, at, size))
        at, strictest = at + size, max(strictest, align)
    return declared(name, -(-at // strictest) * strictest, *fields)


def test_sizes_and_text_of_random_structures_are_those_of_the_compiler() -> None:
    source, texts = random.Random(3), []
    for number in range(120):
        whole = random_structure(source, f"s{number}")
        body = "".join(f"{declare(it.type, it.name)};" for it in whole.fields)
        texts.append(f"struct whole{number} {{ {body} }};")
        texts.append(f'_Static_assert(sizeof(struct whole{number}) == {whole.bytes}, "");')
        found = chosen(whole, source.choice(whole.fields).name)
        if found.parts is None:
            continue
        texts.append(found.suggestion)
        for part, size in (("", found.parts.hot_bytes), ("_cold", found.parts.cold_bytes)):
            texts.append(f'_Static_assert(sizeof(struct s{number}{part}) == {size}, "{number}");')
    assert len([text for text in texts if "_cold {" in text]) > 80
    compiles("\n".join(texts) + "\n", "", "-xc")


def test_the_text_of_what_is_hard_to_write_down() -> None:
    odd = declared(
        "odd",
        96,
        ("key", "int", 0, 4),
        ("a", "unsigned int", 4, 1),
        ("b", "unsigned int", 4, 1),
        ("calls", "int (*)(int)[2]", 8, 16),
        ("grid", "int[2][3]", 24, 24),
        ("row", "int[4] *", 48, 8),
        ("", "(unnamed union at odd.h:9)", 56, 8),
        ("in", "(unnamed struct at odd.h:12)", 64, 16),
        ("data", "char[]", 80, 0),
    )
    inner = declared("(unnamed struct at odd.h:12)", 16, ("p", "long", 0, 8), ("q", "long", 8, 8))
    found = chosen(odd, "key", inner)
    text = found.suggestion
    for line in (
        "int (*calls[2])(int);",
        "int grid[2][3];",
        "int (*row)[4];",
        "unsigned char bytes_56[8]; /* as declared at offset 56, of type (unnamed union",
        "long in_p; /* was in.p */",
        "unsigned int b;",
        "char data[];",
    ):
        assert line in text
    compiles(text, "", "-xc")


def test_an_open_array_stays_the_last() -> None:
    text = chosen(
        declared(
            "m",
            40,
            ("n", "long", 0, 8),
            ("a", "long", 8, 8),
            ("b", "long[3]", 16, 24),
            ("data", "char[]", 40, 0),
        ),
        "data",
    ).suggestion
    compiles(text.replace("struct m {", "struct m { int n;"), "", "-xc")
    assert text.index("*cold;") < text.index("char data[];")


def test_the_pointer_to_virtual_functions_is_not_moved() -> None:
    shape = declared(
        "ns::Shape<int>",
        40,
        ("_vptr$Shape", "int (**)()", 0, 8),
        ("a", "long", 8, 8),
        ("b", "long", 16, 8),
        ("c", "ns::Shape<int> *", 24, 8),
        ("d", "long", 32, 8),
        kind="class",
    )
    found = chosen(shape, "a")
    assert found.parts is not None
    assert [leaf.name for leaf in found.parts.hot] == ["_vptr$Shape", "a"]
    assert "struct Shape_int_cold *cold;" in found.suggestion
    small = declared(
        "S", 24, ("_vptr$S", "int (**)()", 0, 8), ("a", "long", 8, 8), ("b", "long", 16, 8)
    )
    assert chosen(small, "a").decision.finding is Finding.LITTLE_COLD


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("long", "long n"),
        ("char **", "char **n"),
        ("const char *const", "const char *const n"),
        ("node", "struct node n"),
        ("const node *", "const struct node *n"),
        ("node[2]", "struct node n[2]"),
        ("void (*)(node *)", "void (*n)(struct node *)"),
        ("int C::*", "int C:: *n"),
        ("std::array<int[2], 3>", "std::array<int[2], 3> n"),
        ("int &", "int &n"),
    ],
)
def test_declarations(type_: str, text: str) -> None:
    assert declare(type_, "n", {"node": "struct"}) == text


def test_names_of_classes_become_words() -> None:
    assert identifier("a::b::List<int, 3>") == "List_int_3"
    assert identifier("") == "nameless"


def test_sizes_after_a_split_are_the_compilers() -> None:
    members = [
        Leaf("a", "char", 0, 1, 0),
        Leaf("b", "short[3]", 2, 6, 1),
        Leaf("c", "double", 8, 8, 2),
        Leaf("d", "char", 16, 1, 3),
    ]
    assert [alignment(member) for member in members] == [1, 2, 8, 1]
    assert laid_out(members, pointer=True) == 32
    assert laid_out(members[:2], pointer=False) == 8
    # Packed: as far as is known.
    assert alignment(Leaf("e", "long", 3, 8, 0)) == 1


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
    assert told["arc"] == "marked aggressively: a field with less than 55.6 accesses is cold"
    assert told["small"] == "too small: 8 bytes, and more than 8 are asked for"
    assert told["two"] == "2 fields, and more than 2 are asked for"
    assert told["rare"] == "not live: 1 accesses, and more than 7.5 are asked for"
    assert [found.label for found in result.chosen()] == ["arc", "small", "two"]
    assert [found.label for found in result.chosen("r*", everything=True)] == ["rare"]
    assert len(findings(result, result.chosen("two"))) == 1


def test_nothing_at_all() -> None:
    result = split_classes("p", [], {})
    assert "No access to a field" in findings(result, [])[0]
