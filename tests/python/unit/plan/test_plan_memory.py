"""Walks over simulated stack memory: steps and restored frame pointers lead to the right slots."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from halo.binary.elf import FrameRule, RuleKind
from halo.plan import VERDICT_FORWARD, Group, Grouping, Walker, build_plan
from halo.record.profile import Module
from support.samples.plan import MODULES, Sample, Site, random_raw_stacks, reduce_stack

GARBAGE = 0xDEAD


@dataclass(frozen=True)
class Function:
    """How the function around a call site lays out its frame; sizes in bytes."""

    frame: int
    saves_rbp_below: int | None
    uses_frame_pointer: bool
    loses_rbp: bool = False

    @property
    def rule(self) -> FrameRule:
        if self.uses_frame_pointer:
            return FrameRule(RuleKind.FRAME_POINTER, 8, 8)
        return FrameRule(RuleKind.CONSTANT, self.frame, self.saves_rbp_below, self.loses_rbp)


def random_function(rng: random.Random) -> Function:
    frame = 8 * rng.randint(2, 20)
    kind = rng.randrange(10)
    if kind < 3:
        return Function(frame, 8, True)
    if kind < 7:
        return Function(frame, 8 * rng.randint(1, frame // 8 - 1), False)
    return Function(frame, None, False, loses_rbp=kind == 9)


def lay_out(
    raw: Sequence[Site], functions: dict[Site, Function], rng: random.Random
) -> tuple[dict[int, tuple[str, int] | int], int, int]:
    """A stack as it would be in memory: (memory, malloc's return address slot, rbp)."""
    slots = [1 << 20]
    for site in raw:
        function = functions[site]
        # alloca: the frame of a function with a frame pointer has another size each time
        slots.append(
            slots[-1] + (8 * rng.randint(3, 40) if function.uses_frame_pointer else function.frame)
        )
    memory: dict[int, tuple[str, int] | int] = {}
    rbp = GARBAGE
    for at in range(len(raw) - 1, -1, -1):
        module, offset = raw[at]
        function = functions[raw[at]]
        memory[slots[at]] = (MODULES[module].build_id, offset)
        above = slots[at + 1]
        if function.uses_frame_pointer:
            memory[above - 8] = rbp
            rbp = above - 8
        elif function.saves_rbp_below is not None:
            memory[above - function.saves_rbp_below] = rbp
            rbp = GARBAGE + 8 * rng.randrange(100)
        elif function.loses_rbp:
            rbp = GARBAGE
    return memory, slots[0], rbp


@pytest.mark.parametrize("seed", range(80))
def test_walks_in_memory_agree_with_walks_over_stacks(seed: int) -> None:
    rng = random.Random(seed)
    raw_stacks = random_raw_stacks(rng, 60)
    sites = sorted({site for raw in raw_stacks for site in raw})
    functions = {site: random_function(rng) for site in sites}

    def rules(module: Module, offset: int) -> FrameRule:
        return functions[(MODULES.index(module), offset)].rule

    sample = Sample()
    for raw in raw_stacks:
        sample.add(reduce_stack(raw))
    groups = tuple(Group(tuple(range(at, len(raw_stacks), 4)), "") for at in range(3))
    grouping = Grouping("test", groups)
    plan = build_plan(sample.profile(), grouping, {}, rules)
    assert plan.review is not None
    walker = Walker(plan)
    labels = grouping.labels(len(raw_stacks), VERDICT_FORWARD)
    undecidable = set(plan.review.identification.undecidable)
    for at, raw in enumerate(raw_stacks):
        memory, slot, rbp = lay_out(raw, functions, rng)
        by_memory = walker.identify_in_memory(memory, slot, rbp)
        keys = [(MODULES[module].build_id, offset) for module, offset in raw]
        assert by_memory == walker.identify(keys)
        assert (by_memory.verdict == labels[at]) == (at not in undecidable)
    assert len(undecidable) < len(raw_stacks)
