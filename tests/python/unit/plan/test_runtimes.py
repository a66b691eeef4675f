"""Which library a plan is served by, and what is preloaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from halo.binary.process.allocators import find_allocator
from halo.plan.files import write_plan
from halo.plan.model import PageLayout, Plan, PlanGroup, Selectors, Spans
from halo.plan.random_pools import drawing_plan
from halo.plan.runtimes import runtime_of, under_plan

RUNTIME = Path("/r/libhalo.so")
BY_SIZE = PlanGroup(False, 0, True)


def plan_with(*groups: PlanGroup) -> Plan:
    return drawing_plan(groups, 4096, 0, None)


def stepping() -> PlanGroup:
    return BY_SIZE._replace(layout=PageLayout(1, 1 << 12, stepping=True))


@pytest.mark.parametrize(
    ("plan", "library"),
    [
        (plan_with(BY_SIZE), "libhalo.so"),
        (plan_with(BY_SIZE, BY_SIZE), "libhalo-extra.so"),
        (plan_with(BY_SIZE._replace(spans=Spans(0, False, 0))), "libhalo-extra.so"),
        (plan_with(stepping()), "libhalo-extra.so"),
        (replace(plan_with(BY_SIZE), at_random=False), "libhalo.so"),
        (
            replace(plan_with(BY_SIZE), at_random=False, selectors=Selectors((), ())),
            "libhalo-extra.so",
        ),
    ],
    ids=["one pool", "random pools", "spans", "stepping", "walk", "selectors"],
)
def test_a_plan_gets_the_library_that_it_needs(tmp_path: Path, plan: Plan, library: str) -> None:
    path = tmp_path / "a.plan"
    write_plan(plan, path)
    assert runtime_of(RUNTIME, path) == RUNTIME.with_name(library)
    checking = RUNTIME.with_name("libhalo-check.so")
    assert runtime_of(checking, path) == checking


def test_a_program_under_a_plan_has_its_allocators_variables(tmp_path: Path) -> None:
    path = tmp_path / "a.plan"
    write_plan(plan_with(BY_SIZE), path)
    jemalloc = find_allocator("jemalloc:background")
    assert under_plan({"LD_PRELOAD": "/x.so"}, RUNTIME, path, jemalloc) == {
        "LD_PRELOAD": f"{RUNTIME}:{jemalloc.library}:/x.so",
        "MALLOC_CONF": "background_thread:true",
        "HALO_PLAN": str(path),
    }


@pytest.mark.parametrize("content", [None, b"no plan at all"])
def test_a_plan_that_cannot_be_read_is_left_to_the_runtime(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "a.plan"
    if content is not None:
        path.write_bytes(content)
    assert runtime_of(RUNTIME, path) == RUNTIME


def test_a_runtime_that_is_preloaded_already_is_replaced(tmp_path: Path) -> None:
    """Both would serve side by side: of a program under a plan that starts halo, for one."""
    path = tmp_path / "a.plan"
    write_plan(plan_with(BY_SIZE, BY_SIZE), path)
    users = {"LD_PRELOAD": "/other/libhalo.so /x.so:/r/libhalo-extra.so"}
    found = under_plan(users, RUNTIME, path, find_allocator("glibc"))
    assert found["LD_PRELOAD"] == "/r/libhalo-extra.so:/x.so"
