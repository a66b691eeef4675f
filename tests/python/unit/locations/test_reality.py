"""Programs run, and every value that the analysis predicts is what the code then stores."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from halo.locations import BirthStores, Combine, Convert, Extend, pack
from support.call_sites import COMPILERS, LEVELS, all_stores, build
from support.command import REPOSITORY

BENCH = REPOSITORY / "bench"
STEPPING = Path(__file__).with_name("stepping_allocator.c")
REPORT = re.compile(r"objects (\d+) checked (\d+) wrong (\d+) missed (\d+) refused (\d+)")

C_SOURCE = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef struct item {
  struct item *next, *other;
  double x, y;
  int key; short s; char c; long l;
} item;
typedef struct { double x, y; int index[3]; unsigned char small; signed char negative; } record;
typedef struct { item **items; item *head; record *records; long count; } world;
static record records[64];
static world the_world = {.records = records};
static long total;
extern int atoi(const char *);
#define KEPT __attribute__((noinline, noclone))

KEPT item *add(world *w, int key, double x, double y) {
  item *made = malloc(sizeof *made);
  if (!made) return NULL;
  made->next = w->head;
  made->key = key;
  made->x = x;
  made->y = y;
  w->head = made;
  w->items[w->count++] = made;
  return made;
}
KEPT item *of_record(world *w, const record *from, short s) {
  item *made = malloc(sizeof *made);
  made->x = from->x;
  made->y = from->y;
  made->other = w->items[from->index[1]];
  made->key = from->negative;
  made->c = (char)from->small;
  made->s = s;
  made->l = from->index[2] + 1;
  return made;
}
KEPT long spilled(long a, long b, long c, long d, long e, long f, item *g) {
  long values[3] = {a, b, c};
  item *made = malloc(sizeof *made);
  made->l = values[1];
  made->other = g->other;
  made->next = g;
  made->key = (int)(d + 2);
  values[2] = e;
  made->x = g->x;
  made->c = (char)f;
  return values[2] + made->key + a + b + c + d + e + f;
}
KEPT item *by_pointer(item **slot, int *count) {
  item *made = malloc(sizeof *made);
  made->next = *slot;
  *slot = made;
  made->key = *count;
  made->l = total;
  return made;
}
KEPT item *copy(const item *from) {
  item *made = malloc(sizeof *made);
  *made = *from;
  made->next = NULL;
  return made;
}
int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  world *w = &the_world;
  w->items = malloc(1000 * sizeof *w->items);
  for (int i = 0; i < rounds; ++i) {
    record *r = &w->records[i % 64];
    *r = (record){i * 0.5, -i, {i, i / 2, 7 * i}, (unsigned char)(i * 9), (signed char)-i};
    item *added = add(w, i * 3, i * 1.25, 100.0 - i);
    item *second = of_record(w, r, (short)(i * 77));
    total += spilled(i, i + 1, i + 2, i + 3, i + 4, i + 5, added);
    item *slot = second;
    int count = i;
    by_pointer(&slot, &count);
    copy(slot);
  }
  return total < 0;
}
"""
ARITHMETIC = """
#include <stdint.h>
#include <stdlib.h>
typedef struct {
  double a, b, c;
  float f, g;
  int i, j;
  unsigned u, v;
  long l, m;
  unsigned long h;
  short s;
  unsigned char small;
} item;
typedef struct {
  double x, y;
  float p, q;
  int n, k;
  unsigned char byte;
  signed char negative;
} record;
static record records[64];
static long total;
extern int atoi(const char *);
#define KEPT __attribute__((noinline, noclone))

KEPT item *integers(int n, unsigned u, long l) {
  item *made = malloc(sizeof *made);
  made->i = 3 * n + 7;
  made->j = n / 10;
  made->u = u / 1000 + (u >> 3);
  made->v = (u & 0xff00) >> 8;
  made->l = l * 56 - 11;
  made->m = ~l;
  made->s = (short)(n << 4);
  made->small = (unsigned char)(u ^ 0x5a);
  return made;
}
KEPT item *hashes(unsigned u, unsigned long h, int n) {
  item *made = malloc(sizeof *made);
  made->h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdul;
  made->u = (u * 2654435769u) >> 20;
  made->l = -(long)n;
  made->i = n >> 2;
  made->m = (long)(h >> 12 | 1);
  made->v = u % 64;
  return made;
}
KEPT item *reals(int n, unsigned u, long l, const record *from) {
  item *made = malloc(sizeof *made);
  made->a = n * 0.5;
  made->b = u / 3.0 - 1;
  made->c = (double)l + from->x * 4;
  made->f = (float)n / 7;
  made->g = (float)from->y;
  made->i = (int)(from->x * 100);
  made->l = (long)from->p;
  return made;
}
KEPT item *of_record(const record *from, double scale, float shift) {
  item *made = malloc(sizeof *made);
  made->a = from->x * scale;
  made->b = from->y * scale;
  made->c = -from->x;
  made->f = from->p - shift;
  made->g = from->q - shift;
  made->i = from->negative * 2;
  made->j = from->n - from->k;
  made->u = from->byte + 1u;
  made->l = (long)from->n * from->k;
  return made;
}
KEPT item *generated(uint32_t *state, const double *scale) {
  item *made = malloc(sizeof *made);
  *state = *state * 1664525u + 1013904223u;
  made->a = (double)((uint64_t)*state * 1000 >> 32) / 100.0;
  made->i = (int)(*state >> 16) % 100;
  made->c = *scale * 2;
  return made;
}
int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  uint32_t state = 1;
  double scale = 1.5;
  for (int i = -rounds; i < rounds; ++i) {
    record *r = &records[i & 63];
    *r = (record){i * 0.37, -i, i * 0.125f, i + 0.5f, i * 77, 1000 - i, (unsigned char)(i * 9),
                  (signed char)-i};
    unsigned u = (unsigned)i * 40503u + 17;
    total += integers(i * 12345, u, i * 1234567891l)->i;
    total += (long)hashes(u, (unsigned long)i * 0x9e3779b97f4a7c15ul, i * 91)->h;
    total += reals(i * 17, u, i * 1000000007l, r)->i;
    total += of_record(r, 0.1 * i, 0.3f * i)->i;
    total += generated(&state, &scale)->i;
  }
  return total == 1;
}
"""
PLUS_SOURCE = """
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Node { double x, y; std::vector<int> list; };
struct Edge { uint32_t from, to; float weight; Node *target; };
struct Base { virtual ~Base() = default; int key; explicit Base(int k) : key(k) {} };
struct Derived : Base { Node *node; Derived(int k, Node *n) : Base(k), node(n) {} };
struct Pair { double x, y; };
int main(int argc, char **) {
  std::vector<Pair> records;
  for (int i = 0; i < 40; ++i) records.push_back({i * 0.25, i * -2.0});
  std::vector<std::unique_ptr<Node>> nodes;
  for (const Pair &record : records)
    nodes.push_back(std::make_unique<Node>(record.x, record.y, std::vector<int>()));
  std::vector<std::unique_ptr<Edge>> edges;
  std::vector<std::unique_ptr<Base>> bases;
  std::list<double> list;
  std::map<int, long> map;
  for (uint32_t i = 0; i < 40; ++i) {
    const uint32_t to = i * 7 % 40;
    edges.push_back(std::make_unique<Edge>(i, to, static_cast<float>(i) / 3, nodes[to].get()));
    bases.push_back(std::make_unique<Derived>(static_cast<int>(i) * argc, nodes[i].get()));
    list.push_back(nodes[i]->x);
    map[static_cast<int>(to)] = i;
  }
  return map.size() + list.size() + edges.size() + bases.size() == 0;
}
"""


@pytest.fixture(scope="module")
def stepping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("allocator") / "stepping.so"
    command = ["gcc", "-O1", "-fPIC", "-shared", str(STEPPING), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)
    return library


def lines_of(site: int, found: BirthStores) -> Iterator[str]:
    """The text of a call site for the stepping allocator."""
    yield f"site {site} {found.frame_bytes} {int(found.stores_to_frame)}"
    for store in found.stores:
        if store.program is not None:
            numbers = [number for operation in store.program for number in pack(operation)]
            head = (store.offset, store.width, store.instruction, len(store.program))
            yield " ".join(map(str, ("store", *head, *numbers)))


def check(program: Path, stepping: Path, *arguments: str) -> tuple[int, int]:
    """Runs the program and gives the numbers of objects and of values that were compared."""
    text = "\n".join(line for each in all_stores(program) for line in lines_of(*each))
    locations = program.with_suffix(".txt")
    locations.write_text(f"{text}\n")
    environment = {**os.environ, "LD_PRELOAD": str(stepping), "LOCATIONS": str(locations)}
    command = [str(program), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = REPORT.search(done.stderr)
    assert found is not None, done.stderr
    objects, checked, wrong, missed, refused = map(int, found.groups())
    assert (wrong, missed) == (0, 0), done.stderr
    assert refused <= checked
    return objects, checked


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_values_in_c(compiler: str, level: str, stepping: Path, tmp_path: Path) -> None:
    program = build(compiler, "c", C_SOURCE, tmp_path / "program", level)
    objects, checked = check(program, stepping)
    assert objects > 200
    assert checked > 600


@pytest.mark.parametrize(
    "flags",
    [("-O0",), ("-O1",), ("-O2",), ("-O3",), ("-O3", "-mavx2"), ("-O2", "-no-pie", "-fno-pie")],
    ids="".join,
)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_computed_values(
    compiler: str, flags: tuple[str, ...], stepping: Path, tmp_path: Path
) -> None:
    program = build(compiler, "c", ARITHMETIC, tmp_path / "program", *flags)
    used = {
        type(operation)
        for _, stores in all_stores(program)
        for store in stores.stores
        for operation in store.program or ()
    }
    assert used >= {Combine, Convert, Extend}
    objects, checked = check(program, stepping)
    assert objects == 1000
    assert checked > 4500


@pytest.mark.parametrize(
    "flags",
    [
        ("-O2", "-fno-omit-frame-pointer"),
        ("-O2", "-no-pie", "-fno-pie"),
        ("-O2", "-mavx2"),
        ("-O3", "-fno-inline"),
        ("-O2", "-fcf-protection=full", "-fstack-protector-all"),
        ("-O2", "-fno-asynchronous-unwind-tables", "-fno-exceptions"),
    ],
    ids=lambda flags: flags[-1],
)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_values_of_other_builds(
    compiler: str, flags: tuple[str, ...], stepping: Path, tmp_path: Path
) -> None:
    objects, checked = check(build(compiler, "c", C_SOURCE, tmp_path / "program", *flags), stepping)
    assert objects > 200
    assert checked > 200


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_values_in_cplusplus(compiler: str, level: str, stepping: Path, tmp_path: Path) -> None:
    program = build(compiler, "c++", PLUS_SOURCE, tmp_path / "program", level)
    objects, checked = check(program, stepping)
    assert objects >= 200
    assert checked >= (0 if level == "-O0" else 200)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("mesh", ("15", "15", "2", "1")),
        ("pagerank", ("40", "600", "2", "1")),
        ("rbtree", ("100", "5", "200", "1")),
        ("hospital", ("3", "20", "1")),
    ],
)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_values_of_workloads(
    compiler: str, name: str, arguments: tuple[str, ...], stepping: Path, tmp_path: Path
) -> None:
    includes = [f"-I{BENCH}", f"-I{BENCH / 'common'}", f"-I{BENCH / name}"]
    options = tmp_path / "args.o"
    compile_c = [*COMPILERS[compiler, "c"], "-O2", *includes]
    common = str(BENCH / "common" / "args.c")
    subprocess.run([*compile_c, "-c", common, "-o", str(options)], check=True)
    sources = [str(path) for path in (BENCH / name).glob("*.c*")]
    language = "c" if sources[0].endswith(".c") else "c++"
    program = tmp_path / name
    command = [*COMPILERS[compiler, language], "-O2", *includes, *sources, str(options)]
    subprocess.run([*command, "-o", str(program)], check=True)
    objects, checked = check(program, stepping, *arguments)
    assert objects > 300
    assert checked > 500
