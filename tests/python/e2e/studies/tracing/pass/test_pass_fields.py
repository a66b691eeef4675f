"""Which field an access goes by where classes, unions and bit-fields leave a choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.tracing_stub import LOAD, STORE, Trace, build_stub, traced

LEVELS = pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_stub(tmp_path_factory.mktemp("stub"))


def run(stub: Path, folder: Path, name: str, source: str, level: str) -> Trace:
    (folder / name).write_text(source)
    found = traced(stub, folder / "program", str(folder / name), level)
    assert found.status == 0
    return found


def fields(found: Trace, function: str) -> list[tuple[str, str, str]]:
    """Variable, type and owner of the accesses of a function to fields."""
    return [
        (event["variable"], event["type"], event["owner"])
        for event in found.of(LOAD, STORE, function=function)
        if "." in event["variable"]
    ]


@LEVELS
def test_a_field_in_the_tail_padding_of_the_base(stub: Path, tmp_path: Path, level: str) -> None:
    source = """
        struct Shape { virtual ~Shape() {} int id = 1; };
        struct Square : Shape { int side; long extra[4]; };
        __attribute__((noinline)) int side(Square* s) { return s->side; }
        __attribute__((noinline)) int id(Square* s) { return s->id; }
        int main() { Square s; s.side = 7; return side(&s) + id(&s) - 8; }
    """
    found = run(stub, tmp_path, "tail.cc", source, level)
    assert fields(found, "side") == [("Square.side", "int", "Square")]
    assert [name for name, *_ in fields(found, "id")] in (["Square.id"], ["Shape.id"])


@LEVELS
def test_members_of_a_union(stub: Path, tmp_path: Path, level: str) -> None:
    source = """
        struct outer { long tag; union { int i; float fl; double wide; char text[12]; } u; };
        __attribute__((noinline)) float same(struct outer* o) { return o->u.fl; }
        __attribute__((noinline)) double only(struct outer* o) { return o->u.wide; }
        __attribute__((noinline)) char letter(struct outer* o) { return o->u.text[1]; }
        int main(void) {
          static struct outer o;
          return same(&o) != 0 || only(&o) != 0 || letter(&o);
        }
    """
    found = run(stub, tmp_path, "union.c", source, level)
    assert [(name, owner) for name, _, owner in fields(found, "same")] == [("outer.u", "outer")]
    assert fields(found, "only") == [("outer.u.wide", "double", "outer")]
    assert fields(found, "letter") == [("outer.u.text[]", "char", "outer")]


@LEVELS
def test_the_first_bit_field_of_the_storage(stub: Path, tmp_path: Path, level: str) -> None:
    source = """
        struct entry { int key; unsigned flag_a : 1, flag_b : 1, rest : 20; long more; };
        __attribute__((noinline)) int flag(struct entry* e) { return e->flag_b; }
        int main(void) { static struct entry e; return flag(&e); }
    """
    found = run(stub, tmp_path, "bits.c", source, level)
    assert fields(found, "flag") == [("entry.flag_a", "unsigned int", "entry")]


TREE = """
#include <stdlib.h>
struct node { struct node *parent, *left, *right; long key; };
struct point { long tag, a, b; };
struct wide { long tag, a, b, c, d; };
__attribute__((noinline)) struct node* find(struct node* x, long key) {
  while (x && x->key != key) x = key < x->key ? x->left : x->right;
  return x;
}
__attribute__((noinline)) long pick(struct point* p, int i) { return i & 1 ? p->a : p->b; }
__attribute__((noinline)) long* where(struct wide* w, int i) {
  return i == 1 ? &w->a : i == 2 ? &w->b : i == 5 ? &w->c : &w->d;
}
__attribute__((noinline)) long one(struct wide* w, int i) { return *where(w, i); }
__attribute__((noinline)) long byte(struct wide* w, long i) { return *(long*)((char*)w + i); }
__attribute__((noinline)) void link(struct node** at, struct node* node) {
  while (*at) at = node->key < (*at)->key ? &(*at)->left : &(*at)->right;
  *at = node;
}
struct node* root;
int main(void) {
  static struct node nodes[7];
  static struct point p = {1, 2, 3};
  static struct wide w;
  for (int i = 0; i < 7; ++i) {
    nodes[i].key = i * 5 % 7;
    link(&root, &nodes[i]);
  }
  return !find(root, 3) || pick(&p, 1) != 2 || pick(&p, 2) != 3 || one(&w, 2) || byte(&w, 16);
}
"""


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_one_of_several_fields(stub: Path, tmp_path: Path, level: str) -> None:
    """The optimiser chooses an address, or an offset, and loads once."""
    found = run(stub, tmp_path, "tree.c", TREE, level)
    names = {name: (kind, owner) for name, kind, owner in fields(found, "find")}
    assert names.pop("node.key") == ("long", "node")
    assert names == {"node.left|right": ("node *", "")}
    assert {e["line"] for e in found.of(LOAD, variable="node.left|right", function="find")} == {7}
    assert set(fields(found, "pick")) == {("point.a|b", "long", "")}
    assert {name for name, *_ in fields(found, "byte")} == {"wide.?"}
    assert not [event for event in found.of(LOAD, function="byte") if event["owner"]]
    linked = found.of(LOAD, STORE, function="link")
    assert {event["owner"] for event in linked if "left" in event["variable"]} == {""}
    (first,) = {event["variable"] for event in found.of(STORE, function="link")}
    assert set(first.split("|")) == {"at[]", "node.left", "node.right"}


@LEVELS
def test_a_virtual_base(stub: Path, tmp_path: Path, level: str) -> None:
    source = """
        struct A { int a = 1; };
        struct V : virtual A { int v = 2; __attribute__((noinline)) int f() { return a + v; } };
        int main() { V v; return v.f() - 3; }
    """
    found = run(stub, tmp_path, "virtual.cc", source, level)
    names = {name: owner for name, _, owner in fields(found, "V::f") if "_vptr" not in name}
    assert names == {"A.a": "A", "V.v": "V"}
