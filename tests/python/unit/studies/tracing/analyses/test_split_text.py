"""The structures that `halo study trace split` suggests: their declarations and their sizes."""

from __future__ import annotations

import pytest

from halo.studies.tracing.analyses.split.findings import alternative
from halo.studies.tracing.analyses.split.layout import alignment, laid_out
from halo.studies.tracing.analyses.split.rules import Finding
from halo.studies.tracing.analyses.split.split import ArrayUse
from halo.studies.tracing.analyses.split.text import declare, identifier
from halo.studies.tracing.analyses.split.types import Leaf
from support.samples.split import arc, chosen, declared


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
    found = arc(arc=ArrayUse(allocations=1, minimum=1000, maximum=1000))
    assert "structure of arrays, one for ident alone" in alternative(found)
    assert alternative(arc(arc=ArrayUse(allocations=2, minimum=1, maximum=1000))) == ""


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
