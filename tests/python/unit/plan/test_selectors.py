"""Figure 10 to the letter, which call sites it may use, and what of it goes into a plan."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadPlan
from halo.plan import (
    VERDICT_FORWARD,
    Group,
    Grouping,
    Plan,
    build_plan,
    outline,
    plan_summary,
    read_plan,
    write_plan,
)
from halo.plan.compact import encode
from halo.plan.selection import Expression, Usable, first_match, select
from halo.record.profile import Module
from support.samples.plan import (
    Sample,
    any_alignment,
    any_distance,
    random_raw_stacks,
    reduce_stack,
)

NOWHERE = 99


def anywhere(site: int) -> bool:
    return True


# A slow and obvious figure 10, line by line, over chains of call sites, innermost first.


def identify(
    groups: Sequence[tuple[int, Sequence[int]]],
    labels: Mapping[int, int],
    chains: Mapping[int, Sequence[int]],
    usable: Callable[[int], bool],
) -> list[Expression]:
    ignored: set[int] = set()
    selectors = []
    for group, members in groups:
        ignored.add(group)
        for member in members:
            expression: list[int] = []
            conflicts = float("inf")
            while conflicts:
                matching = [
                    chain
                    for context, chain in chains.items()
                    if all(site in chain for site in expression) and labels[context] not in ignored
                ]
                options = [
                    (sum(site in chain for chain in matching), depth, site)
                    for depth, site in enumerate(chains[member])
                    if usable(site)
                ]
                if not options:
                    break
                count, _, best = min(options)  # of equals, the one nearer to malloc
                if count == conflicts:
                    break
                expression.append(best)
                conflicts = count
            found = Expression(group, tuple(expression))
            if expression and found not in selectors:
                selectors.append(found)
    return selectors


@pytest.mark.parametrize("seed", range(120))
def test_figure_10_fast_equals_slow(seed: int) -> None:
    rng = random.Random(seed)
    stacks = random_raw_stacks(rng, rng.randint(1, 60), sites=rng.choice((4, 12)))
    numbers: dict[Any, int] = {}
    chains = {
        at: [numbers.setdefault(site, len(numbers)) for site in reduce_stack(stack)]
        for at, stack in enumerate(stacks)
    }
    labels = {at: rng.choice((VERDICT_FORWARD, 0, 1, 2)) for at in chains}
    order = rng.sample(range(3), 3)
    groups = [(group, [at for at in chains if labels[at] == group]) for group in order]
    fixed = {site for site in numbers.values() if rng.random() < 0.3}

    def usable(site: int) -> bool:
        return site not in fixed

    found = select(groups, labels, chains, Usable(usable, NOWHERE), NOWHERE)
    assert list(found.expressions) == identify(groups, labels, chains, usable)
    reachable = {at for _, members in groups for at in members if set(chains[at]) - fixed}
    assert set(found.unreachable) == {at for _, members in groups for at in members} - reachable
    for at in reachable:
        assert first_match(found.expressions, chains[at]) is not None


def select_one(
    chains: Mapping[int, Sequence[int]], labels: Mapping[int, int], **more: Any
) -> tuple[tuple[int, ...], ...]:
    members = [at for at in chains if labels[at] == 0]
    usable = Usable(more.get("usable", anywhere), more.get("most", NOWHERE))
    found = select([(0, members)], labels, chains, usable, more.get("longest", NOWHERE))
    return tuple(expression.sites for expression in found.expressions)


def test_worked_examples() -> None:
    # 1 is the wrapper's malloc; 10 and 11 call it, 20 and 21 call those.
    chains = {0: [1, 10, 20], 1: [1, 11, 20], 2: [1, 10, 21]}
    assert select_one({0: [1, 10, 20]}, {0: 0}) == ((1,),)  # nothing conflicts: the innermost
    assert select_one(chains, {0: VERDICT_FORWARD, 1: 0, 2: VERDICT_FORWARD}) == ((11,),)
    # 10 and 20 each leave one conflict; of these 10 is nearer to malloc, and then 20 leaves none.
    assert select_one(chains, {0: 0, 1: VERDICT_FORWARD, 2: VERDICT_FORWARD}) == ((10, 20),)
    assert select_one(chains, {0: 0, 1: VERDICT_FORWARD, 2: VERDICT_FORWARD}, longest=1) == ((10,),)
    # A second site that reduces nothing is not added: 0 is the same as 1.
    assert select_one({0: [1, 2], 1: [1, 2, 3]}, {0: 0, 1: VERDICT_FORWARD}) == ((1,),)


def test_sites_that_cannot_be_redirected_are_replaced_by_others() -> None:
    chains = {0: [1, 10, 20], 1: [1, 11, 20], 2: [1, 10, 21]}
    labels = {0: VERDICT_FORWARD, 1: 0, 2: VERDICT_FORWARD}
    assert select_one(chains, labels, usable=lambda site: site != 11) == ((20,),)
    assert select_one(chains, labels, usable=lambda site: site not in (11, 20)) == ((1,),)
    assert select_one(chains, labels, usable=lambda site: False) == ()
    assert select_one(chains, dict.fromkeys(chains, 0), maximum=1) == ((1,),)


def test_groups_that_came_before_are_not_a_conflict() -> None:
    chains = {0: [1, 10], 1: [1, 11]}
    found = select([(1, [1]), (0, [0])], {0: 0, 1: 1}, chains, Usable(anywhere, NOWHERE), NOWHERE)
    # The second group needs nothing but what they share: the first one's selector is tried first.
    assert found.expressions == (Expression(1, (11,)), Expression(0, (1,)))


# --- in a plan ---


def sample_plan(**options: str) -> Plan:
    """Two kinds through a wrapper, and a third that is only counted among the conflicts."""
    sample = Sample()
    sample.add([16, 32, 64], accesses=5)
    sample.add([16, 33, 64], accesses=90, alignment=16)
    sample.add([16, (1, 34), 64], accesses=1)
    groups = (Group((0,), "few", 0.05), Group((1,), "many", 0.9))

    def obstacles(module: Module, offset: int) -> str:
        return "not a direct call" if offset == 34 else ""

    return build_plan(
        sample.profile(),
        Grouping("test", groups),
        {"identification": "selectors", **options},
        any_distance,
        obstacles,
        any_alignment,
    )


def test_a_plan_with_selectors() -> None:
    plan = sample_plan()
    assert plan.selectors is not None and plan.review is not None
    # The most popular group first, whatever its number.
    sites, conjunctions = plan.selectors
    assert [(each.group, each.alignment) for each in conjunctions] == [(1, 16), (0, 0)]
    assert [sites[each.sites[0]].offset for each in conjunctions] == [33, 32]
    assert all(site.step == 16 for site in plan.selectors.sites)
    assert (len(plan.states), plan.states[0].verdict, plan.executable) == (1, VERDICT_FORWARD, 0)
    assert plan.review.parameters["plan"]["identification"] == "selectors"
    found = plan.review.identification
    assert found.undecidable.count == 0 and found.selectors is not None
    assert (found.selectors.sites, found.selectors.conjunctions) == (2, 2)
    assert dict(plan_summary(plan))["selectors"] == "2 conjunctions of 2 call sites"


def test_a_direct_caller_of_the_allocator_needs_no_redirection() -> None:
    sample = Sample()
    sample.add([16, 32])
    sample.add([17, 32])
    sample.add([32])
    groups = tuple(Group((at,), "", 0.3) for at in range(3))
    plan = build_plan(
        sample.profile(),
        Grouping("test", groups),
        {"identification": "selectors"},
        any_distance,
        lambda module, offset: "not a direct call",
    )
    assert plan.selectors is not None and plan.review is not None
    # 32 is innermost in one context only, so it would have to be redirected, and cannot be.
    assert [(site.offset, site.immediate) for site in plan.selectors.sites] == [
        (16, True),
        (17, True),
    ]
    found = plan.review.identification.selectors
    assert found is not None and found.immediate == 2
    assert tuple(found.unreachable) == (2,)


def test_what_cannot_be_told_apart_is_reported() -> None:
    sample = Sample()
    for outer in (32, 33):
        sample.add([16, outer], accesses=5, allocations=2)
    groups = (Group((0,), "", 0.5),)

    def obstacles(module: Module, offset: int) -> str:
        return "" if offset == 16 else "not a direct call"

    plan = build_plan(
        sample.profile(),
        Grouping("test", groups),
        {"identification": "selectors"},
        any_distance,
        obstacles,
    )
    assert plan.review is not None
    found = plan.review.identification
    assert tuple(found.undecidable) == (1,) and found.undecidable_allocations == 0.5
    assert found.selectors is not None
    assert found.selectors.not_redirected == {"not a direct call": 1}
    assert dict(plan_summary(plan))["not redirected: not a direct call"] == "1 call sites"
    assert "undecidable" in dict(outline(plan)), "what the plan misses"


def test_members_without_any_redirected_call_are_reported() -> None:
    sample = Sample()
    sample.add([16])
    sample.add([17, 16])
    plan = build_plan(
        sample.profile(),
        Grouping("test", (Group((0,), "", 1.0),)),
        {"identification": "selectors"},
        any_distance,
        lambda module, offset: "no file",
    )
    assert plan.selectors == ((), ()) and plan.review is not None
    found = plan.review.identification
    assert found.selectors is not None
    assert (*found.selectors.unreachable, *found.undecidable) == (0, 0)
    assert found.selectors.not_redirected == {"no file": 1}


def test_selectors_are_read_as_they_were_written(tmp_path: Path) -> None:
    plan = sample_plan()
    write_plan(plan, tmp_path / "a.plan")
    found = read_plan(tmp_path / "a.plan")
    assert (found.selectors, found.states) == (plan.selectors, plan.states)
    assert plan.review is not None and found.review is not None
    assert found.review.identification == plan.review.identification


SITES_AT = 64 + 40 + 2 * 16 + 32
CONJUNCTIONS_AT = SITES_AT + 2 * 24


def test_the_compact_form_is_laid_out_as_documented() -> None:
    """Written out by hand from docs/plan-format.md."""
    content = encode(sample_plan())
    assert struct.unpack_from("<I", content, 8) == (3,)
    assert struct.unpack_from("<5I", content, 24) == (1, 2, 1, 4096, 1 | 4)
    assert struct.unpack_from("<5I", content, 44) == (1, 2, 2, 2, 1)
    assert struct.unpack_from("<IIQII", content, SITES_AT) == (0, 0, 33, 16, 0)
    assert struct.unpack_from("<IIQII", content, SITES_AT + 24) == (0, 0, 32, 16, 0)
    assert struct.unpack_from("<4H12H", content, CONJUNCTIONS_AT) == (
        *(1, 16, 1, 0),
        *(0, *[0xFFFF] * 11),
    )
    assert len(content) == CONJUNCTIONS_AT + 2 * 32 + 2 * 48 + 16


@pytest.mark.parametrize(
    ("at", "value", "sentence"),
    [
        (8, struct.pack("<I", 8), "plan version 8"),
        (8, struct.pack("<I", 1), "a header field"),
        (8, struct.pack("<I", 2), "a header field"),
        (40, struct.pack("<I", 6), "draws groups at random"),
        (40, struct.pack("<I", 1), "a header field"),
        (SITES_AT - 32 + 22, struct.pack("<H", 0), "has selectors and states"),
        (SITES_AT, struct.pack("<I", 1), "call site 0 has no valid address"),
        (SITES_AT + 8, struct.pack("<Q", 4), "call site 0 has no valid address"),
        (SITES_AT + 4, struct.pack("<I", 2), "unknown flags"),
        (SITES_AT + 16, struct.pack("<I", 12), "call site 0 has an impossible step"),
        (SITES_AT + 16, struct.pack("<I", (1 << 20) + 8), "call site 0 has an impossible step"),
        (SITES_AT + 20, struct.pack("<I", 1), "unknown flags"),
        (CONJUNCTIONS_AT, struct.pack("<H", 2), "conjunction 0 names a missing group or site"),
        (CONJUNCTIONS_AT + 8, struct.pack("<H", 2), "conjunction 0 names a missing group or site"),
        (CONJUNCTIONS_AT + 2, struct.pack("<H", 32), "impossible alignment"),
        (CONJUNCTIONS_AT + 4, struct.pack("<H", 0), "malformed"),
        (CONJUNCTIONS_AT + 4, struct.pack("<H", 13), "malformed"),
        (CONJUNCTIONS_AT + 6, struct.pack("<H", 1), "malformed"),
        (CONJUNCTIONS_AT + 10, struct.pack("<H", 0), "malformed"),
    ],
)
def test_contradictions_are_refused(tmp_path: Path, at: int, value: bytes, sentence: str) -> None:
    content = bytearray(encode(sample_plan()))
    content[at : at + len(value)] = value
    content[12:16] = struct.pack("<I", zlib.crc32(content[64:]))
    (tmp_path / "a.plan").write_bytes(content)
    with pytest.raises(BadPlan, match=sentence):
        read_plan(tmp_path / "a.plan")


def test_plans_that_walk_have_no_sites() -> None:
    plan = sample_plan(identification="walk")
    assert plan.selectors is None
    assert struct.unpack_from("<I", encode(plan), 40) == (1,)
    assert encode(plan)[48:56] == bytes(8)
    assert replace(plan, review=None) == replace(sample_plan(identification="walk"), review=None)


# --- which calls can be redirected ---
