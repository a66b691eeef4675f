"""Stacks in another build: found in bounded time, and with the counts of one context."""

from __future__ import annotations

import time

import pytest

from halo.binary.elf.positions import Position
from halo.plan.carried_groups import renumbered
from halo.plan.grouping import Group, Grouping
from halo.record.profile import Module
from halo.record.profile.model import Context
from halo.record.transfer.stacks import MAX_STACKS, StackCarrier
from halo.record.transfer.steps import Build, CallStep, Site
from halo.record.transfer.transfer import Carried, _share
from halo.record.transfer.unification import unify
from support.samples.plan import Sample

OLD, NEW = Module("/old", "aa" * 20), Module("/new", "bb" * 20)


def step(depth: int) -> CallStep:
    return CallStep(Position(f"f{depth}", "a.c", 10 * depth, 0), "")


def carrier(depth: int, copies: int, last: bool) -> StackCarrier:
    """Calls of that depth; the other build has copies of each, and of the outermost if `last`."""
    old = Build(Site(1000 + at, (step(at),)) for at in range(depth))
    new = Build(
        Site(100_000 + 10 * at + copy, (step(at),))
        for at in range(depth if last else depth - 1)
        for copy in range(copies)
    )
    return StackCarrier(OLD, old, NEW, new)


@pytest.mark.parametrize(("depth", "copies"), [(40, 2), (200, 3), (3000, 1)])
def test_a_call_that_is_gone_is_found_out_in_time(depth: int, copies: int) -> None:
    start = time.monotonic()
    stack = [(OLD, 1000 + at) for at in range(depth)]
    assert carrier(depth, copies, last=False).carry(stack) == []
    whole = carrier(depth, copies, last=True).carry(stack)
    assert len(whole) == min(copies**depth, MAX_STACKS) == len(set(whole))
    assert all(len(found) == depth for found in whole)
    assert time.monotonic() - start < 20


def test_copies_share_the_counts_of_their_context() -> None:
    whole = Context(1, 7, 5, 100, 16, 16, ((16, 7),), 10 << 20, 600, 0)
    copies = [_share(whole, at, 6) for at in range(6)]
    for name in ("allocations", "bytes", "peak_live_bytes", "accesses"):
        assert sum(getattr(copy, name) for copy in copies) == getattr(whole, name)
    assert all(copy.allocations > 0 and copy.few_sizes(1) for copy in copies)


def test_groups_that_name_contexts_are_renumbered_with_the_contexts() -> None:
    """The first two contexts merge, so that the others move up."""
    sample = Sample()
    for at in range(4):
        sample.add([16 + at], accesses=100 - at)
    profile = sample.profile()
    shared = ((NEW, 1),)
    stacks = [[shared], [shared], [((NEW, 2),)], [((NEW, 3),)]]
    unified, _, numbers = unify(profile, stacks)
    assert numbers == [0, 0, 1, 2]
    carried = Carried(unified, profile, (), tuple(numbers))
    groups = [Group(members, "", 0.0, 0) for members in ((2,), (0, 3), (1,))]
    found = renumbered(carried, Grouping("from-file", tuple(groups)))
    assert [group.contexts for group in found.groups] == [(1,), (0, 2), ()]
    assert [unified.contexts[at].accesses for at in (0, 1)] == [199, 98]
