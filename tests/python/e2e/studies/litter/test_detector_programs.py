"""libhalo-detector.so with real programs, the baseline allocators and the runtime."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from halo.binary.process.allocators import Allocator
from support.littering import ALLOCATORS, HOSPITAL, PLAIN, counts_of, detect, run
from support.planned import RUNTIME, Run, compile_program, make_plan, run_planned

DATA = json.dumps([{"name": f"entry {i}", "value": i} for i in range(300)])
SHEET = """<x:stylesheet version="1.0" xmlns:x="http://www.w3.org/1999/XSL/Transform">
<x:template match="/"><x:for-each select="//b"><x:sort select="." order="descending"/>
<x:value-of select="."/>;</x:for-each></x:template></x:stylesheet>"""
PAGE = "<a>" + "".join(f"<b>{i * 7 % 101}</b>" for i in range(200)) + "</a>"
QUERY = "create table t(a,b); insert into t values(1,2),(3,4); select sum(a*b) from t;"
REAL = {
    "jq": (["jq", "-c", "group_by(.value % 7) | map(length)"], DATA),
    "xsltproc": (["xsltproc", "sheet.xsl", "page.xml"], ""),
    "python3": (["/usr/bin/python3", "-c", "print(sorted(str(i) for i in range(2000))[::97])"], ""),
    "sqlite3": (["sqlite3", ":memory:", QUERY], ""),
    "hospital": (HOSPITAL, ""),
}


@pytest.mark.parametrize("allocator", ALLOCATORS, ids=lambda it: it.name)
@pytest.mark.parametrize("name", REAL)
def test_real_programs_do_the_same(tmp_path: Path, name: str, allocator: Allocator) -> None:
    command, stdin = REAL[name]
    (tmp_path / "sheet.xsl").write_text(SHEET)
    (tmp_path / "page.xml").write_text(PAGE)
    alone = run(command, [allocator.library], cwd=tmp_path, stdin=stdin)
    assert alone.status == 0 and alone.stdout
    more = [allocator.library]
    outcome, found = detect(command, tmp_path / "out", more, stdin=stdin, cwd=tmp_path)
    assert outcome == alone
    assert found["allocations"] == sum(found["bins"]) > 100
    assert 0 < found["max_live_allocations"] <= found["allocations"]


# Two call sites behind a wrapper, one of calloc, operator new, and sizes that no group serves.
GROUPED = r"""
#include <new>
#include <cstdlib>
#include <cstring>
struct Node { Node *next; long value[3]; };
static long sum_of_aligned;
static void *wrapper(size_t size) { char *p = (char *)malloc(size); memset(p, 1, size); return p; }
static void *near(size_t size) { void *volatile p = wrapper(size); return p; }
static void *far(size_t size) { void *volatile p = wrapper(size); return p; }
int main() {
  Node *list = nullptr;
  void *kept[3000];
  for (int i = 0; i < 1000; ++i) {
    kept[3 * i] = near(24 + i % 3 * 8);
    kept[3 * i + 1] = far(40);
    kept[3 * i + 2] = calloc(5, 20);
    Node *node = new Node{list, {i, i, i}};
    list = node;
    if (i % 100 == 0) free(near(5000));
    /* Aligned by request: in no group, for any caller. */
    void *aligned = aligned_alloc(32, 64);
    sum_of_aligned += *(char *)memset(aligned, 1, 64);
    free(aligned);
    free(new (std::align_val_t(64)) char[64]);
  }
  long sum = 0;
  for (int round = 0; round < 20; ++round) {
    for (Node *node = list; node; node = node->next) sum += node->value[1];
    for (int i = 0; i < 3000; ++i) sum += *(char *)kept[i];
  }
  for (int i = 0; i < 3000; ++i) free(kept[i]);
  while (list) { Node *next = list->next; delete list; list = next; }
  return sum == 0;
}
"""


def detected_under(plan: Path, command: list[str], folder: Path) -> dict[str, Any]:
    env = {"HALO_PLAN": str(plan)}
    outcome, found = detect(command, folder / "detected", [RUNTIME], env)
    assert (outcome.status, outcome.stderr) == (0, "")
    return found


def check_groups(normal: Run, found: dict[str, Any]) -> None:
    """Each group's objects are those that it serves in a normal run; all are in the totals."""
    assert sum(normal.allocations) > 0
    by_group = [Counter(dict(pairs)) for pairs in found["groups"]]
    assert [counts.total() for counts in by_group] == normal.allocations
    rest = counts_of(found)
    rest.subtract(sum(by_group, Counter()))
    assert min(rest.values()) >= 0


@pytest.mark.parametrize("strategy", ["per-site", "dense", "halo-hot"])
def test_groups_are_those_that_serve(tmp_path: Path, strategy: str) -> None:
    command = [str(compile_program(tmp_path, GROUPED, "-fno-builtin"))]
    plan = make_plan(tmp_path, command, strategy)
    normal = run_planned(command, plan, env={"HALO_STATS_COUNTS": "1"})
    assert normal.status == 0
    found = detected_under(plan, command, tmp_path)
    check_groups(normal, found)
    served = {size for pairs in found["groups"] for size, _ in pairs}
    assert {24, 40, 100} <= served and served.isdisjoint({64, 4097})


def test_groups_of_a_real_program(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, HOSPITAL, "dense")
    normal = run_planned(HOSPITAL, plan)
    check_groups(normal, detected_under(plan, HOSPITAL, tmp_path))


def test_a_runtime_without_a_plan_has_no_groups(tmp_path: Path) -> None:
    assert "HALO_PLAN" not in PLAIN
    _, found = detect(HOSPITAL, tmp_path / "out", [RUNTIME])
    assert found["groups"] == []
