"""What gcc and clang make of common constructors, at every level of optimisation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from halo.locations import BirthStores, Frame, Image, Load, Register, value_at
from support.call_sites import LEVELS, all_stores, build, stores_in

SOURCE = """
#include <stdlib.h>
struct point { double x, y; };
struct node { double x, y; struct node *left; int key; short kind; };
struct record { unsigned corner, kind; };
struct owner { struct node **nodes; struct node *root; int count; };
int last_key;
extern void use(void *, ...);

struct node *parameters(struct node *left, int key, short kind) {
  struct node *made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  made->left = left;
  made->key = key;
  made->kind = kind;
  return made;
}
struct node *pair(const struct point *at) {
  struct node *made = malloc(sizeof *made);
  made->x = at->x;
  made->y = at->y;
  return made;
}
struct node *values(double x, double y, int key) {
  struct node *made = malloc(sizeof *made);
  if (!made) abort();
  made->x = x;
  made->y = y;
  made->key = key;
  return made;
}
struct node *element(struct owner *owner, const struct record *record) {
  struct node *made = malloc(sizeof *made);
  made->left = owner->nodes[record->corner];
  made->key = owner->count;
  return made;
}
struct node *chain(struct owner *owner) {
  struct node *made = malloc(sizeof *made);
  made->left = owner->root->left;
  made->key = owner->root->key;
  return made;
}
void loop(struct node **table, int count) {
  for (int i = 0; i < count; ++i) {
    struct node *made = malloc(sizeof *made);
    made->key = i;
    made->left = table[i];
    use(made);
  }
}
struct node *global(void) {
  struct node *made = malloc(sizeof *made);
  made->key = last_key;
  return made;
}
long long many(long a, long b, long c, long d, long e, long f) {
  long *made = malloc(64);
  made[0] = a; made[1] = b; made[2] = c; made[3] = d; made[4] = e; made[5] = f;
  use(made, a, b, c, d, e, f);
  return a + b + c + d + e + f;
}
"""
PLUS = """
#include <cstdint>
#include <memory>
#include <vector>
struct Node { double x, y; std::vector<int> list; };
struct Edge { uint32_t from, to; float weight; };
struct Pair { double x, y; };
struct Triangle { Node *points[3]; Triangle *sides[3]; uint32_t visits = 0; };
void use(void *);
void nodes(const std::vector<Pair> &records) {
  for (const Pair &record : records) use(new Node{record.x, record.y, {}});
}
void edge(uint32_t from, uint32_t to, double weight) {
  use(new Edge{from, to, static_cast<float>(weight)});
}
void triangle(const std::vector<std::unique_ptr<Node>> &nodes, const uint32_t *record) {
  Triangle *made = new Triangle();
  made->points[0] = nodes[record[0]].get();
  use(made);
}
"""


@pytest.fixture(scope="module", params=[(it, level) for it in ("gcc", "clang") for level in LEVELS])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler, level = request.param
    path = tmp_path_factory.mktemp("code") / "code.so"
    return build(compiler, "c", SOURCE, path, level, "-shared", "-fPIC")


def known(stores: BirthStores, fields: Mapping[int, int]) -> bool:
    """Whether the fields, (offset: width), have programs."""
    return all(value_at(stores, offset, width) for offset, width in fields.items())


@pytest.mark.parametrize(
    ("function", "fields"),
    [
        ("parameters", {16: 8, 24: 4, 28: 2}),
        ("pair", {0: 8, 8: 8}),
        ("values", {0: 8, 8: 8, 24: 4}),
        ("element", {16: 8, 24: 4}),
        ("chain", {16: 8, 24: 4}),
        ("loop", {16: 8, 24: 4}),
        ("global", {24: 4}),
        ("many", {0: 8, 8: 8, 16: 8, 24: 8, 32: 8, 40: 8}),
    ],
)
def test_fields_have_programs(library: Path, function: str, fields: Mapping[int, int]) -> None:
    assert known(stores_in(library, function), fields)


def test_no_slot_of_the_frame_is_outside_it(library: Path) -> None:
    for _, stores in all_stores(library):
        for operation in (it for store in stores.stores for it in store.program or ()):
            assert not isinstance(operation, Frame) or operation.offset in range(stores.frame_bytes)


def test_global_data_are_addresses_in_the_image(library: Path) -> None:
    program = value_at(stores_in(library, "global"), 24, 4)
    assert program is not None
    assert isinstance(program[0], Image)
    assert all(isinstance(operation, Load) for operation in program[1:])


@pytest.fixture(scope="module", params=[(it, at) for it in ("gcc", "clang") for at in LEVELS[1:]])
def plus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """C++ without -O0, at which constructors are calls."""
    compiler, level = request.param
    path = tmp_path_factory.mktemp("code") / "code.so"
    return build(compiler, "c++", PLUS, path, level, "-shared", "-fPIC")


@pytest.mark.parametrize(
    ("function", "fields"),
    [("nodes", {0: 8, 8: 8}), ("edge", {0: 4, 4: 4}), ("triangle", {0: 8})],
)
def test_fields_of_classes_have_programs(
    plus: Path, function: str, fields: Mapping[int, int]
) -> None:
    assert known(stores_in(plus, function), fields)


def test_a_frame_pointer_makes_no_difference(tmp_path: Path) -> None:
    flags = ("-O2", "-fno-omit-frame-pointer", "-shared", "-fPIC")
    library = build("gcc", "c", SOURCE, tmp_path / "code.so", *flags)
    stores = stores_in(library, "values")
    assert stores.frame_bytes > 0
    assert isinstance((value_at(stores, 0, 8) or ())[0], Frame)
    assert value_at(stores, 24, 4) in [(Register(0),), (Register(2),)]


def test_frames_of_variable_size_are_unknown(tmp_path: Path) -> None:
    source = SOURCE + (
        "void variable(int count, int key) { int list[count]; use(list); int *made = malloc(8);"
        " made[0] = key; made[1] = list[0]; use(made); }"
    )
    library = build("gcc", "c", source, tmp_path / "code.so", "-O2", "-shared", "-fPIC")
    stores = [it for it in [stores_in(library, "variable")] if it.frame_bytes == 0]
    assert len(stores) == 1
    assert not any(isinstance(it, Frame) for each in stores[0].stores for it in each.program or ())
