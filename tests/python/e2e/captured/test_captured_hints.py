"""Objects of unmodified programs that are placed by values in registers: from record to exec."""

from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path

import pytest

from halo.settings import read_settings
from support.captured import NODES, compile_program
from support.command import halo

SETTINGS = read_settings()

MANY_PAGES, FEW_PAGES = 100, 60
"""Pages of the 200 nodes of an owner, among those of 99 others: in the order of allocation, and
placed by hints."""

CXX_PROGRAM = """
#include <cstdio>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>
struct Point {
  Point(double at_x, double at_y) : x(at_x), y(at_y) {}
  double x, y;
  double mass = 1;
  Point* nearest = nullptr;
};
static double sum = 0;
__attribute__((noinline)) static std::unique_ptr<Point> make(double x, double y) {
  return std::make_unique<Point>(x, y);
}
static void build(std::vector<std::unique_ptr<Point>>& points, unsigned seed) {
  std::minstd_rand random(seed);
  for (int at = 0; at < 16000; ++at) {
    const double x = random() % 10000 / 100.0, y = random() % 10000 / 100.0;
    points.push_back(make(x, y));
  }
}
static void traverse(const std::vector<std::unique_ptr<Point>>& points, bool print) {
  std::vector<std::vector<Point*>> cells(100);
  for (const auto& point : points)
    cells[unsigned(point->x / 10) * 10 + unsigned(point->y / 10)].push_back(point.get());
  unsigned long pages = 0;
  for (int round = 0; round < 3; ++round)
    for (const auto& cell : cells) {
      std::set<std::uintptr_t> seen;
      for (const Point* point : cell) {
        sum += point->mass;
        if (print) seen.insert(reinterpret_cast<std::uintptr_t>(point) / 4096);
      }
      pages += seen.size();
    }
  if (print) std::printf("%.1f\\n", double(pages) / 300);
}
int main(int argc, char**) {
  std::vector<std::unique_ptr<Point>> points, others;
  if (argc > 1) {
    std::thread other([&] { build(others, 7); });
    build(points, 1);
    other.join();
  } else {
    build(points, 1);
  }
  traverse(points, true);
  std::vector<std::thread> threads;
  if (argc > 1) threads.emplace_back([&] { others.clear(); });
  points.clear();
  for (std::thread& one : threads) one.join();
}
"""


def plan_of(folder: Path) -> list[dict[str, str | int]]:
    """Records `folder`/program, makes `folder`/app.plan, and returns its reviewed hints."""
    recording = ("record", "--objects", "--contents", "-o", "app.profile", "--", "./program")
    done = halo(*recording, cwd=folder)
    assert done.status == 0, done.stderr
    done = halo("plan", "app.profile", "--strategy", "hints", "-o", "app.plan", cwd=folder)
    assert done.status == 0, done.stderr
    found: list[dict[str, str | int]] = json.loads((folder / "app.plan.json").read_text())["hints"]
    return found


def pages_of(folder: Path, *arguments: str, plan: bool = True) -> float:
    """Under the plan, or natively; the program must be right."""
    if not plan:
        done = subprocess.run(
            ["./program", *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
        return float(done.stdout)
    command = ("exec", "--plan", "app.plan", "--", "./program", *arguments)
    outcome = halo(*command, cwd=folder, env={"HALO_STATS": "stats.json"})
    assert (outcome.status, outcome.stderr) == (0, "")
    return float(outcome.stdout)


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_nodes_of_c_are_placed_by_a_field(tmp_path: Path, compiler: str) -> None:
    compile_program(tmp_path, compiler, NODES, "-s")
    [hint] = plan_of(tmp_path)
    assert hint["bytes"] == 40
    assert "by +8 (i32)" in str(hint["reason"])
    assert pages_of(tmp_path, plan=False) > MANY_PAGES
    assert pages_of(tmp_path) < FEW_PAGES
    assert pages_of(tmp_path, "and", "others") < FEW_PAGES
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert stats["hinted"] == 20000
    assert stats["unhinted"] == 0


COMPUTED = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { kNodes = 6000, kCells = 60 };
struct node { double place; struct node* next; float half; unsigned check; };
static struct node* cells[kCells];
static double sum;
__attribute__((noinline)) static struct node* make(unsigned number, const double* scale) {
  struct node* made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  made->place = (number * 7u >> 12) % 1024 * *scale / 1.024;
  made->half = (float)number / 2;
  made->check = number ^ 0x5a5a;
  return made;
}
int main(void) {
  double scale = 0.06;
  uint32_t number = 1;
  unsigned long pages = 0;
  for (unsigned at = 0; at < kNodes; ++at) {
    number = number * 1664525 + 1013904223;
    struct node* one = make(number, &scale);
    if (one == NULL || one->check != (number ^ 0x5a5a)) abort();
    unsigned cell = (unsigned)one->place % kCells;
    one->next = cells[cell];
    cells[cell] = one;
  }
  for (int round = 0; round < 3; ++round)
    for (unsigned cell = 0; cell < kCells; ++cell)
      for (struct node* at = cells[cell]; at != NULL; at = at->next) sum += at->half;
  for (unsigned cell = 0; cell < kCells; ++cell) {
    uintptr_t seen[100];
    unsigned count = 0;
    for (struct node* at = cells[cell]; at != NULL; at = at->next) {
      uintptr_t page = (uintptr_t)at / 4096;
      unsigned one = 0;
      while (one < count && seen[one] != page) ++one;
      if (one == count && count < 100) seen[count++] = page;
    }
    pages += count;
  }
  printf("%.1f\\n", (double)pages / (unsigned)kCells);
  return sum < 1;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_nodes_are_placed_by_a_number_that_is_computed_behind_the_call(
    tmp_path: Path, compiler: str
) -> None:
    compile_program(tmp_path, compiler, COMPUTED)
    [hint] = plan_of(tmp_path)
    assert "by +0 (f64)" in str(hint["reason"])
    native = pages_of(tmp_path, plan=False)
    assert pages_of(tmp_path) < 0.7 * native
    assert json.loads((tmp_path / "stats.json").read_text())["hinted"] == 6000


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_points_of_cxx_are_placed_by_coordinates(tmp_path: Path, compiler: str) -> None:
    compile_program(tmp_path, compiler, CXX_PROGRAM)
    [hint] = plan_of(tmp_path)
    assert "+0 (f64)" in str(hint["reason"]) and "+8 (f64)" in str(hint["reason"])
    native = pages_of(tmp_path, plan=False)
    assert pages_of(tmp_path) < native / 2
    assert pages_of(tmp_path, "with", "threads") < native


@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
@pytest.mark.parametrize("megabytes", [300, 540, 600, 800, 1400])
def test_limits_on_memory_hurt_nothing(tmp_path: Path, limit: str, megabytes: int) -> None:
    compile_program(tmp_path, "gcc", NODES)
    plan_of(tmp_path)
    size = megabytes << 20
    done = subprocess.run(
        ["./program", "and", "others"],
        cwd=tmp_path,
        env={"LD_PRELOAD": str(SETTINGS.runtime), "HALO_PLAN": "app.plan"},
        preexec_fn=lambda: resource.setrlimit(getattr(resource, limit), (size, size)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


TRAPS = """
#define _GNU_SOURCE
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
struct point { double x, y; struct point* next; };
static struct point* all;
__attribute__((noinline)) static void make(double x, double y) {
  struct point* made = malloc(sizeof *made);
  if (made == NULL) abort();
  made->x = x;
  made->y = y;
  made->next = all;
  all = made;
}
int main(int argc, char** argv) {
  static const double odd[] = {1e308, -1e308, 0.1, 5e-324};
  static struct point* cells[100][200];
  static int counts[100];
  double sum = 0;
  if (argc > 1) {
    fesetround(FE_UPWARD);
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_INEXACT | FE_UNDERFLOW);
    for (int at = 0; at < 1000; ++at) make(odd[at % 4], odd[at / 4 % 4]);
    printf("%d %d\\n", fetestexcept(FE_ALL_EXCEPT), fegetround() == FE_UPWARD);
    return argv == NULL;
  }
  srand(1);
  for (int at = 0; at < 8000; ++at) make(rand() % 1000 / 100.0, rand() % 1000 / 100.0);
  for (struct point* at = all; at != NULL; at = at->next) {
    int cell = (int)at->x * 10 + (int)at->y;
    cells[cell][counts[cell]++] = at;
  }
  for (int round = 0; round < 20; ++round)
    for (int cell = 0; cell < 100; ++cell)
      for (int at = 0; at < counts[cell]; ++at) sum += cells[cell][at]->x;
  return sum < 1;
}
"""


def test_the_floating_point_environment_stays(tmp_path: Path) -> None:
    compile_program(tmp_path, "gcc", TRAPS, "-lm")
    assert plan_of(tmp_path)
    done = halo("exec", "--plan", "app.plan", "--", "./program", "trap", cwd=tmp_path)
    assert (done.status, done.stdout, done.stderr) == (0, "0 1\n", "")


def test_the_trace_of_another_run_is_refused(tmp_path: Path) -> None:
    compile_program(tmp_path, "gcc", NODES)
    plan_of(tmp_path)
    with (tmp_path / "app.objects").open("ab") as file:
        file.write(b"more")
    done = halo("plan", "app.profile", "--strategy", "hints", "-o", "new.plan", cwd=tmp_path)
    assert done.status == 121
    assert "is not the trace that was recorded with the profile" in done.stderr


def test_a_plan_is_shown_with_its_hints(tmp_path: Path) -> None:
    compile_program(tmp_path, "gcc", NODES)
    plan_of(tmp_path)
    shown = halo("plan", "app.profile", "--strategy", "hints", "-o", "app.plan", cwd=tmp_path)
    assert shown.status == 0
    assert "1 call site\n" in shown.stdout
    assert "all other objects are forwarded" in shown.stdout
    assert "by +8 (i32), intervals of" in " ".join(shown.stdout.split())


NO_HINTS = """
#include <stdlib.h>
struct node { struct node* next; long key; char rest[SIZE]; };
__attribute__((noinline)) static void fill(struct node* node, long key) { node->key = key; }
int main(void) {
  struct node* first = NULL;
  long sum = 0;
  for (long at = 0; at < COUNT; ++at) {
    struct node* node = malloc(BYTES);
    node->next = first;
    FILL;
    first = node;
  }
  for (int round = 0; round < 20; ++round)
    for (struct node* node = first; node != NULL; node = node->next) sum += node->key;
  return sum < 0;
}
"""


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"BYTES": "sizeof *node + at % 7 * 16"},
            "objects of several sizes, or of over 1024 bytes",
        ),
        ({"SIZE": "2000"}, "objects of several sizes, or of over 1024 bytes"),
        ({"FILL": "fill(node, at)"}, "no known value but pointers or constants"),
        ({"COUNT": "20"}, "fewer than 50 accessed objects with contents"),
        ({}, "no known value that predicts use"),
    ],
)
def test_the_reason_for_no_hints_is_said(
    tmp_path: Path, options: dict[str, str], reason: str
) -> None:
    usual = {"SIZE": "16", "COUNT": "2000", "BYTES": "sizeof *node", "FILL": "node->key = at"}
    macros = [f"-D{name}={text}" for name, text in {**usual, **options}.items()]
    compile_program(tmp_path, "gcc", NO_HINTS, *macros)
    recording = ("record", "--objects", "--contents", "-o", "app.profile", "--", "./program")
    assert halo(*recording, cwd=tmp_path).status == 0
    done = halo("plan", "app.profile", "--strategy", "hints", "-o", "app.plan", cwd=tmp_path)
    assert done.status == 0
    assert f"has a hint: {reason} (1 site)." in " ".join(done.stdout.split())
    assert reason in json.loads((tmp_path / "app.plan.json").read_text())["why_no_hints"]


def test_a_run_says_why_no_hints_are_raced(tmp_path: Path) -> None:
    macros = ("-DSIZE=2000", "-DCOUNT=500", "-DBYTES=sizeof *node", "-DFILL=node->key = at")
    compile_program(tmp_path, "gcc", NO_HINTS, *macros)
    command = ("run", "--candidates", "dense,hints", "--trials", "1")
    done = halo(*command, "--results", "found", "--", "./program", "--", "./program", cwd=tmp_path)
    assert done.status == 0, done.stderr
    assert "has a hint: objects of several sizes, or of over 1024" in " ".join(done.stderr.split())
    assert not (tmp_path / "found" / "hints.plan").exists()


FORKING = (
    NO_HINTS.replace("main(void)", "work(void)")
    + """
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int status = 0;
  if (fork() == 0) return work();
  return wait(&status) < 0 || status != 0;
}
"""
)


def test_a_trace_of_another_process_has_no_hints(tmp_path: Path) -> None:
    macros = ("-DSIZE=16", "-DCOUNT=500", "-DBYTES=sizeof *node", "-DFILL=node->key = at")
    compile_program(tmp_path, "gcc", FORKING, *macros)
    recording = ("record", "--objects", "--contents", "-o", "app.profile", "--", "./program")
    assert halo(*recording, cwd=tmp_path).status == 0
    done = halo("plan", "app.profile", "--strategy", "hints", "-o", "app.plan", cwd=tmp_path)
    assert done.status == 0
    assert "no contents of objects" in " ".join(done.stdout.split())


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    compile_program(tmp_path, "gcc", NODES)
    plan = ("plan", "app.profile", "--strategy", "hints", "-o", "app.plan")
    assert halo("record", "-o", "app.profile", "--", "./program", cwd=tmp_path).status == 0
    done = halo(*plan, cwd=tmp_path)
    assert done.status == 117
    assert "no object trace, which strategy hints needs" in done.stderr
    recorded = halo("record", "--objects", "-o", "app.profile", "--", "./program", cwd=tmp_path)
    assert recorded.status == 0
    assert not (tmp_path / "app.plan").exists()
    done = halo(*plan, cwd=tmp_path)
    assert done.status == 0
    words = "app.objects has no contents of objects, which strategy hints needs; record it with"
    assert words in " ".join(done.stdout.split())


def test_a_plan_is_not_carried_to_another_build(tmp_path: Path) -> None:
    compile_program(tmp_path, "gcc", NODES)
    plan_of(tmp_path)
    (tmp_path / "other").mkdir()
    compile_program(tmp_path / "other", "gcc", NODES, "-DOTHER", "-O3")
    done = halo(
        *("plan", "app.profile", "--strategy", "hints", "-o", "other.plan"),
        *("--for", "other/program"),
        cwd=tmp_path,
    )
    assert done.status == 117
    assert "names registers of the recorded build" in done.stderr
    stale = ("exec", "--stale", "fail", "--plan", "app.plan", "--", "other/program")
    assert halo(*stale, cwd=tmp_path).status == 116
