"""The strategy conflict: groups, layouts, and refusals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from halo.base.errors import BadInput
from halo.plan import build_plan
from halo.plan.grouping import Grouping
from halo.plan.model import SPREAD, ConflictReview, PageLayout
from halo.plan.strategies.factory import make_grouping
from halo.record.profile import Profile, profile_json
from halo.record.profile.reader import parse_profile
from support.samples.conflicts import conflicts_document, machine, state
from support.samples.plan import Sample

STATES = [
    state(None, 0),
    state(0, 64, conflict=30, reuses=10),
    state(0, 128, conflict=20, reuses=10),
    state(1, 64, conflict=45, reuses=10),
    state(2, 64, conflict=0, reuses=10),
]
PAIRS = [[1, 1, 60, 60, 5], [2, 2, 40, 40, 5], [3, 3, 90, 90, 5]]


def profile(
    states: Sequence[dict[str, Any]] = STATES,
    pairs: Sequence[Sequence[int]] = PAIRS,
    **machine_of: int,
) -> Profile:
    sample = Sample()
    for stack in ([1, 9], [2, 9], [3, 8]):
        sample.add(stack)
    document = json.loads(json.dumps(profile_json(sample.profile())))
    document["conflicts"] = {
        **conflicts_document(),
        "machine": machine(**machine_of),
        "states": list(states),
        "pairs": list(pairs),
    }
    return parse_profile(document, "sample")


def contexts(grouping: Grouping) -> list[tuple[int, ...]]:
    return [group.contexts for group in grouping.groups]


def test_states_of_one_context_are_in_one_group() -> None:
    found = make_grouping(profile(), "conflict")
    assert contexts(found) == [(0,), (1,)]
    assert "50 conflict misses" in found.groups[0].reason
    assert "in 64 of 64 slots, predicted 0 conflict misses" in found.groups[0].reason
    assert found.groups[0].conflicts == ConflictReview(64, 0, 50, spread=0, placed=0)


def test_contexts_that_conflict_share_a_group() -> None:
    pairs = [[1, 3, 60, 60, 5], [2, 2, 40, 40, 5], [3, 3, 90, 90, 5]]
    assert contexts(make_grouping(profile(pairs=pairs), "conflict")) == [(0, 1)]
    apart = make_grouping(profile(pairs=pairs), "conflict", {"separate": "true"})
    assert sorted(contexts(apart)) == [(0,), (1,)]


def test_the_table_predicts_nothing_and_says_so() -> None:
    """The first context's partner is in the first slot, so its blocks start in all others."""
    pairs = [[1, 3, 60, 60, 5], [2, 2, 40, 40, 5], [3, 3, 90, 90, 5]]
    found = make_grouping(profile(pairs=pairs), "conflict", {"reading": "table"})
    (group,) = found.groups
    assert group.reason.endswith("blocks start in 63 of 64 slots")
    assert group.layout == PageLayout(starts=((1 << 64) - 1) & ~1)
    assert group.conflicts is not None
    assert group.conflicts.slots == 63
    assert group.conflicts.placed is None


def test_all_sizes_of_a_context_decide_its_layout() -> None:
    """Blocks of 24 bytes do not conflict, but are in the pages of those of 240."""
    hot = state(0, 240, (99, 1), conflict=30, reuses=10, peak=400)
    pairs = [[1, 1, 60, 60, 5]]
    alone = make_grouping(profile([state(None, 0), hot], pairs), "conflict")
    assert alone.groups[0].layout == PageLayout(line_start=True)
    mixed = profile([state(None, 0), hot, state(0, 24, peak=400_000)], pairs)
    assert make_grouping(mixed, "conflict").groups[0].layout == PageLayout()


@pytest.mark.parametrize("line", [32, 256])
def test_lines_that_the_runtime_does_not_have_are_refused(line: int) -> None:
    with pytest.raises(BadInput, match=f"lines of {line} bytes; plans need 64"):
        make_grouping(profile(line=line), "conflict")


def test_contexts_step_to_the_slots_that_their_partners_did_not_use() -> None:
    states = [{**it, "by_slot": [5, 0, 5]} if it.get("context") == 1 else it for it in STATES]
    pairs = [[1, 3, 60, 60, 5], [2, 2, 40, 40, 5], [3, 3, 90, 90, 5]]
    found = profile(states, pairs)
    options = {"reading": "table", "placement": "stepping"}
    grouping = make_grouping(found, "conflict", options)
    assert contexts(grouping) == [(0,), (1,)], "a table for each context"
    assert "blocks step to 62 of 64 slots" in grouping.groups[0].reason
    plan = build_plan(found, grouping, {})
    layouts = [group.layout for group in plan.groups]
    assert layouts[0] == PageLayout(starts=(1 << 64) - 1 - 0b101, stepping=True)
    assert plan.version == 4


def test_stepping_ignores_lines_within_the_block() -> None:
    states = [STATES[0], {**state(0, 240, conflict=30, reuses=10), "by_line": [0, 9]}]
    found = profile(states, [[1, 1, 60, 60, 5]])
    pages, stepping = (
        make_grouping(found, "conflict", {"placement": placement}).groups[0].layout
        for placement in ("pages", "stepping")
    )
    assert pages is not None and pages.line_start
    assert stepping == PageLayout(stepping=True)


def test_skipped_frames_join_contexts() -> None:
    found = make_grouping(profile(), "conflict", {"skip_frames": "1"})
    assert contexts(found) == [(0, 1)], "both are called from 9"


def test_groups_have_pages_of_one_size() -> None:
    found = profile()
    plan = build_plan(found, make_grouping(found, "conflict"), {})
    assert all(group.by_size and group.layout == SPREAD for group in plan.groups)
    assert plan.version == 3


def test_the_way_is_that_of_the_recorded_machine() -> None:
    found = profile(sets=512)
    plan = build_plan(found, make_grouping(found, "conflict"), {})
    assert {group.layout for group in plan.groups} == {PageLayout(way_bytes=32768)}
    assert plan.version == 4


@pytest.mark.parametrize(
    ("phase", "layout"),
    [("none", PageLayout(packed=True)), ("same", PageLayout(starts=1))],
)
def test_a_phase_replaces_the_layouts(phase: str, layout: PageLayout) -> None:
    found = profile()
    for strategy in ("conflict", "dense"):
        plan = build_plan(found, make_grouping(found, strategy), {"phase": phase})
        assert {group.layout for group in plan.groups} == {layout}
        assert all(group.by_size for group in plan.groups)


def test_a_way_that_is_not_a_power_of_two_is_refused() -> None:
    found = profile()
    with pytest.raises(BadInput, match="power of two"):
        build_plan(found, make_grouping(found, "dense"), {"way": "5000"})


def test_a_profile_without_conflict_misses_has_no_groups() -> None:
    found = profile([state(None, 0), state(0, 64)], [])
    assert make_grouping(found, "conflict").groups == ()


def test_a_profile_without_the_section_is_refused() -> None:
    sample = Sample()
    sample.add([1])
    with pytest.raises(BadInput, match="record it with: halo record --conflicts"):
        make_grouping(sample.profile(), "conflict")


@pytest.mark.parametrize("sets", [32, 2048, 96])
def test_a_way_that_no_plan_can_have_is_refused(sets: int) -> None:
    with pytest.raises(BadInput, match="plans need a power of two from 4,096 to 32,768"):
        make_grouping(profile(sets=sets), "conflict")


def test_the_same_profile_gives_the_same_groups() -> None:
    assert make_grouping(profile(), "conflict") == make_grouping(profile(), "conflict")


def test_objects_over_a_quarter_of_the_cache_are_forwarded() -> None:
    found = profile(sets=64)  # and two ways
    assert build_plan(found, make_grouping(found, "conflict"), {}).max_object == 64 * 2 * 64 // 4
    assert build_plan(found, make_grouping(found, "one-pool"), {}).max_object == 4096
    chosen = build_plan(found, make_grouping(found, "conflict"), {"max_object": "9000"})
    assert chosen.max_object == 9000


def test_a_way_for_a_strategy_without_layouts_needs_pages_of_one_size() -> None:
    found = profile()
    (group,) = build_plan(found, make_grouping(found, "one-pool"), {"way": "8192"}).groups
    assert group.by_size
    assert group.layout == PageLayout(way_bytes=8192)
