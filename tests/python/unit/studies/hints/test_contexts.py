"""Contexts of types with the same fields, the file of hints, and pointers of arrays."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from halo.studies.hints.contexts import with_equal_widths
from halo.studies.hints.document import HintDimension, TypeHint
from halo.studies.hints.features import SECONDARY, Feature, Place, first_pointers
from halo.studies.hints.hints_file import MAX_CONTEXTS, hints_text, write_hints
from halo.studies.hints.kinds import Kind
from halo.studies.hints.leaves import Leaf
from halo.studies.hints.study import unjudged


def hint_of(name: str, *dimensions: HintDimension) -> TypeHint:
    kind = Kind(name, 1, 1, 8, 1, 0, 0, 0, 0)
    return msgspec.structs.replace(unjudged(kind, ""), hint=dimensions, call="old")


NODE = hint_of(
    "mesh::Node",
    HintDimension("x", 2.0, "mesh::Node", (0,), "f64"),
    HintDimension("y", 0.5, "mesh::Node", (8,), "f64"),
)
TRIANGLE = hint_of(
    "mesh::Triangle",
    HintDimension("points[0]->x", 1.5, "mesh::Node", (24, 0), "f64"),
    HintDimension("points[0]->y", 1.5, "mesh::Node", (24, 8), "f64"),
)
OTHER = hint_of("other", HintDimension("key", 3.0, "other", (0,), "u32"))
DEEP = hint_of("deep", HintDimension("a->b->c", 1.0, "c", (0, 8, 16), "i64"))


def test_types_with_the_same_fields_have_the_narrowest_intervals() -> None:
    node, triangle, other, none = with_equal_widths([NODE, TRIANGLE, OTHER, hint_of("none")])
    assert [dim.width for dim in node.hint] == [dim.width for dim in triangle.hint] == [1.5, 0.5]
    assert [dim.field for dim in triangle.hint] == ["points[0]->x", "points[0]->y"]
    assert "tidy_bin(y, 0.5)" in node.call
    assert [dim.width for dim in other.hint] == [3.0]
    assert (none.hint, none.call) == ((), "old")


def test_the_file_has_a_context_for_each_set_of_fields(tmp_path: Path) -> None:
    found = [NODE, DEEP, TRIANGLE, hint_of("none"), OTHER]
    assert write_hints(found, tmp_path / "app.hints")
    assert (tmp_path / "app.hints").read_text() == (
        "halo-hints 1\n"
        "type 0 mesh::Node\nkey f64 2.0 0\nkey f64 0.5 8\n"
        "type 0 mesh::Triangle\nkey f64 1.5 24 0\nkey f64 1.5 24 8\n"
        "type 1 other\nkey u32 3.0 0\n"
    )


def test_there_is_no_file_without_hints(tmp_path: Path) -> None:
    assert hints_text([DEEP, hint_of("none")]) == ""
    assert not write_hints([hint_of("none")], tmp_path / "app.hints")
    assert list(tmp_path.iterdir()) == []


def test_types_beyond_the_last_context_are_left_out() -> None:
    many = [hint_of(f"t{at}", HintDimension("k", 1.0, f"t{at}", (0,), "u32")) for at in range(70)]
    text = hints_text([*many, msgspec.structs.replace(many[3], type="same")])
    assert text.count("type ") == MAX_CONTEXTS + 1
    assert "type 63 t63\n" in text
    assert "type 3 same\n" in text


def test_fields_of_other_widths_are_left_out() -> None:
    assert [Leaf(0, width, "x", "int").scalar for width in (1, 2, 3, 4, 8)] == [
        "i8",
        "i16",
        "",
        "i32",
        "i64",
    ]
    assert [Leaf(0, width, "x", "double").scalar for width in (2, 4, 8)] == ["", "f32", "f64"]
    odd = hint_of("odd", HintDimension("bits", 1.0, "odd", (0,), Leaf(0, 3, "b", "int").scalar))
    assert hints_text([odd]) == ""


def feature(name: str, *path: int) -> Feature:
    return Feature(name, SECONDARY, np.zeros(2), 1.0, place=Place("", path))


def test_the_first_pointer_of_an_array_stands_for_all() -> None:
    features = [
        feature("points[2]->y", 16, 8),
        feature("left->key", 40, 0),
        feature("points[0]->y", 0, 8),
        feature("values[1]", 64),
        feature("points[1]->x", 8, 0),
        feature("right->key", 48, 0),
        feature("values[0]", 56),
    ]
    names = [one.name for one in first_pointers(features)]
    assert names == [
        "points[0]->y",
        "left->key",
        "values[1]",
        "points[1]->x",
        "right->key",
        "values[0]",
    ]
