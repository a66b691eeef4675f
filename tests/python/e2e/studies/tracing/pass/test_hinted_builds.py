"""`halo-cc --halo-hints`: allocations that are rewritten, so that Tidy places the objects."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from halo.base.settings import read_settings

SETTINGS = read_settings()
CC = str(SETTINGS.repository / "bin" / "halo-cc")
CXX = str(SETTINGS.repository / "bin" / "halo-c++")
RULE = "tidy_place"
MANY_PAGES, FEW_PAGES = 100, 50
"""Pages of an owner's 200 nodes of 40 bytes, which are among those of 99 others: in random order,
and placed by hints. They are not in two pages, since cells adapt while the objects come."""

HEAD = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { kNodes = 20000, kOwners = 100 };
static unsigned next_owner(void) {
  static uint32_t state = 1;
  state = state * 1664525 + 1013904223;
  return (state >> 16) % kOwners;
}
"""
PAGES = """
static void print_pages(void** nodes, const unsigned* owners) {
  unsigned long pages = 0;
  for (unsigned owner = 0; owner < kOwners; ++owner) {
    uintptr_t seen[kNodes], count = 0;
    for (unsigned at = 0; at < kNodes; ++at) {
      if (owners[at] != owner) continue;
      uintptr_t page = (uintptr_t)nodes[at] / 4096, one = 0;
      while (one < count && seen[one] != page) ++one;
      if (one == count) seen[count++] = page;
    }
    pages += count;
  }
  printf("%.1f\\n", (double)pages / (unsigned)kOwners);
}
"""
C_NODE = (
    HEAD
    + """
struct node { struct node* next; unsigned owner; double payload; double more[2]; };
static struct node* make(struct node* next, unsigned owner, double payload) {
  struct node* made = malloc(sizeof *made);
  if (made == NULL) abort();
  made->next = next;
  made->owner = owner;
  made->payload = payload;
  made->more[0] = made->more[1] = 0;
  return made;
}
"""
    + PAGES
    + """
static void* nodes[kNodes];
static unsigned owners[kNodes];
int main(void) {
  struct node* last = NULL;
  for (unsigned at = 0; at < kNodes; ++at) {
    owners[at] = next_owner();
    nodes[at] = last = make(last, owners[at], at);
  }
  print_pages(nodes, owners);
  for (unsigned at = 0; at < kNodes; ++at) free(nodes[at]);
  return 0;
}
"""
)
CXX_NODE = (
    HEAD
    + """
#include <array>
#include <memory>
#include <vector>
namespace shop {
struct Owner {
  explicit Owner(unsigned of) : number(of) {}
  unsigned number;
  char rest[20];
};
struct Item {
  explicit Item(Owner* of) : owner(of) {}
  Owner* owner;
  std::array<double, 3> values{};
};
}
"""
    + PAGES
    + """
int main(int argc, char**) {
  std::vector<std::unique_ptr<shop::Owner>> all;
  for (unsigned at = 0; at < kOwners; ++at)
    all.push_back(std::make_unique<shop::Owner>(at));
  static unsigned owners[kNodes];
  static void* nodes[kNodes];
  std::vector<std::unique_ptr<shop::Item>> items;
  for (unsigned at = 0; at < kNodes; ++at) {
    owners[at] = next_owner();
    shop::Owner* const owner = argc > 1 ? (at % 2 ? nullptr : (shop::Owner*)(uintptr_t)argc) :
        all[owners[at]].get();
    items.push_back(std::make_unique<shop::Item>(owner));
    nodes[at] = items.back().get();
  }
  print_pages(nodes, owners);
}
"""
)
BY_OWNER = "halo-hints 1\ntype 0 node\nkey u32 1.0 8\n"
BY_NUMBER = "halo-hints 1\ntype 0 shop::Owner\nkey u32 1.0 0\ntype 0 shop::Item\nkey u32 1.0 0 0\n"


def build(
    source: str, folder: Path, hints: str, *options: str, compiler: str = CC
) -> subprocess.CompletedProcess[str]:
    """Builds `folder`/program."""
    name = "program.c" if compiler == CC else "program.cc"
    (folder / name).write_text(source)
    (folder / "app.hints").write_text(hints)
    command = [compiler, f"--halo-hints={folder / 'app.hints'}", *options, name, "-o", "program"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def pages_of(folder: Path, *arguments: str, **variables: str) -> float:
    done = subprocess.run(
        [str(folder / "program"), *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def calls(folder: Path) -> Sequence[str]:
    found = subprocess.run(["nm", "-u", "program"], cwd=folder, capture_output=True, text=True)
    return found.stdout.split()


@pytest.mark.parametrize("options", [("-O1",), ("-O2",), ("-O3", "-march=x86-64-v3"), ("-Os",)])
def test_objects_of_c_are_placed_by_a_field(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = build(C_NODE, tmp_path, BY_OWNER, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert RULE in calls(tmp_path)
    assert pages_of(tmp_path) < FEW_PAGES
    (tmp_path / "program").unlink()
    assert build(C_NODE, tmp_path, BY_OWNER.replace("node", "other"), *options).returncode == 0
    assert RULE not in calls(tmp_path)
    assert pages_of(tmp_path) > MANY_PAGES


@pytest.mark.parametrize("options", [("-O1",), ("-O2",), ("-O2", "-flto")])
def test_objects_of_cxx_are_placed_by_a_field_of_a_neighbour(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = build(CXX_NODE, tmp_path, BY_NUMBER, "-std=c++20", *options, compiler=CXX)
    assert (done.returncode, done.stderr) == (0, "")
    assert pages_of(tmp_path) < FEW_PAGES


def test_pointers_to_no_object_of_tidy_are_not_followed(tmp_path: Path) -> None:
    done = build(CXX_NODE, tmp_path, BY_NUMBER, "-std=c++20", "-O2", compiler=CXX)
    assert done.returncode == 0
    assert RULE in calls(tmp_path)
    assert pages_of(tmp_path, "with", "bad", "pointers") > MANY_PAGES


def test_what_is_not_known_before_the_allocation_leaves_it_alone(tmp_path: Path) -> None:
    late = C_NODE.replace(
        "  made->owner = owner;", '  printf("");\n  made->owner = owner + (unsigned)getpid() * 0;'
    )
    source = "#include <unistd.h>\n" + late
    assert build(source, tmp_path, BY_OWNER, "-O2").returncode == 0
    assert RULE not in calls(tmp_path)


@pytest.mark.parametrize(
    ("hints", "said"),
    [
        ("halo-hints 2\n", "is not a file of hints of this version"),
        ("", "is not a file of hints of this version"),
        ("halo-hints 1\n", "app.hints:1 ends a file without a type"),
        ("halo-hints 1\nkey u32 1 0\n", "app.hints:2 is malformed: key"),
        ("halo-hints 1\ntype 0 node\n", "app.hints:2 has a type without a key"),
        ("halo-hints 1\ntype 64 node\nkey u32 1 0\n", "with a context from 0 to 63"),
        ("halo-hints 1\ntype x node\nkey u32 1 0\n", "app.hints:2 is malformed: type"),
        ("halo-hints 1\ntype 0 node\nkey u32 0 0\n", "app.hints:3 is malformed: key"),
        ("halo-hints 1\ntype 0 node\nkey u32 nan 0\n", "app.hints:3 is malformed: key"),
        ("halo-hints 1\ntype 0 node\nkey u9 1 0\n", "app.hints:3 is malformed: key"),
        ("halo-hints 1\ntype 0 node\nkey u32 1 -4\n", "app.hints:3 is malformed: key"),
        ("halo-hints 1\ntype 0 node\nkey u32 1 0 0 0\n", "app.hints:3 is malformed: key"),
        (
            f"{BY_OWNER}type 0 other\nkey u32 1 0\nkey u32 1 8\n",
            "app.hints:6 ends a file with types of one context that have different numbers of keys",
        ),
        (f"{BY_OWNER}type 0 node\nkey u32 1 0\n", "app.hints:4 has a type for the second time"),
    ],
)
def test_bad_hints_end_the_build(tmp_path: Path, hints: str, said: str) -> None:
    done = build(C_NODE, tmp_path, hints, "-O2")
    assert done.returncode == 1
    assert said in done.stderr


def test_hints_are_not_for_traced_programs(tmp_path: Path) -> None:
    done = build(C_NODE, tmp_path, BY_OWNER, "--halo-type=node")
    assert done.returncode == 111
    assert "hints are for programs that are not traced" in done.stderr
    missing = subprocess.run([CC, "--halo-hints=none"], capture_output=True, text=True, check=False)
    assert (missing.returncode, missing.stdout) == (111, "")
    assert missing.stderr == "halo-cc: the hints none cannot be read\n"
