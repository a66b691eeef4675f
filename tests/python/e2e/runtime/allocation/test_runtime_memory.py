"""Row 30 of what breaks preloaded allocators: resident memory and huge pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from halo.plan import Plan, read_plan
from support.steady import Steady, changed, make_steady, outcome_of

MANY = 180000


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Steady:
    return make_steady(tmp_path_factory.mktemp("steady"))


def with_huge_pages(wanted: bool) -> Callable[[Plan], Plan]:
    return lambda plan: replace(
        plan, groups=tuple(group._replace(huge_pages=wanted) for group in plan.groups)
    )


def test_resident_memory_is_bounded(steady: Steady, tmp_path: Path) -> None:
    """Row 30: a tenth more than without the runtime, or 256 KiB a group and thread."""
    plan = changed(steady, tmp_path, with_huge_pages(False))
    alone = steady.alone(MANY)
    without = outcome_of(alone.status, alone.stdout, alone.stderr)
    outcome = steady.outcome(plan=plan, count=MANY)
    assert outcome.fine and outcome.after == 2 * MANY
    groups = len(read_plan(plan).groups)
    assert 0 < outcome.peak <= without.peak + max(without.peak // 10, 2 * 256 * groups)


@pytest.mark.parametrize("wanted", [False, True], ids=["none", "all"])
def test_huge_pages_only_where_the_plan_asks(steady: Steady, tmp_path: Path, wanted: bool) -> None:
    """Row 30. A heap has to be large before it gets them."""
    plan = changed(steady, tmp_path, with_huge_pages(wanted))
    count = 500000
    outcome = steady.outcome("huge", plan=plan, count=count)
    assert outcome.fine and outcome.after == 2 * count
    assert (outcome.huge > 0) == wanted
