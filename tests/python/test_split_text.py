"""The structures that halo split suggests: C that compiles, with the sizes that it says."""

from __future__ import annotations

import random
import subprocess

import pytest
from split_samples import ARC, NODE, POINT, chosen, declared

from halo.analyses.split import ArrayUse, ClassSplit, split_classes
from halo.analyses.split_counts import PlaceUse, count_uses
from halo.analyses.split_layout import alignment, laid_out
from halo.analyses.split_rules import Finding
from halo.analyses.split_text import declare, identifier
from halo.analyses.split_types import DeclaredClass, Leaf
from halo.analyses.split_words import alternative


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
