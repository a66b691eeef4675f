"""The runtime's walk in Python: the reference that plans and the C++ walk are checked against.

It follows docs/plan-format.md step by step, and prefers clarity to speed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from halo.plan.layout import RULE_CONSTANT, RULE_FRAME_POINTER, VERDICT_FORWARD, VERDICT_UNDECIDED
from halo.plan.model import MAX_STEPS, Plan

Address = tuple[str, int]
"""A return address as (build-id, offset)."""
_FARTHEST_FRAME = 1 << 20
_ROOT = 0


class Walk(NamedTuple):
    """The outcome: the verdict, the state that has it, and the number of return addresses read."""

    verdict: int
    state: int
    steps: int


class Walker:
    """Walks the stacks of a program that runs under a plan."""

    def __init__(self, plan: Plan) -> None:
        self.states = plan.states
        self.addresses: list[Address] = [
            (plan.modules[state.module].build_id, state.offset) if at else ("", 0)
            for at, state in enumerate(plan.states)
        ]
        self.children = {
            (state.parent, self.addresses[at]): at for at, state in enumerate(plan.states) if at
        }

    def identify(self, stack: Sequence[Address]) -> Walk:
        """Walks a stack given by its return addresses, the caller of malloc first."""
        memory = {8 * at: address for at, address in enumerate(stack)}
        return self._walk(memory, 0, None)

    def identify_in_memory(self, memory: Mapping[int, Address | int], slot: int, rbp: int) -> Walk:
        """Walks stack memory: `memory` by address in bytes, malloc's return address at `slot`."""
        return self._walk(memory, slot, rbp)

    def _walk(self, memory: Mapping[int, Address | int], slot: int, rbp: int | None) -> Walk:
        state = _ROOT
        steps = 0
        if self.states[_ROOT].verdict != VERDICT_UNDECIDED:
            return Walk(self.states[_ROOT].verdict, _ROOT, 0)
        while steps < MAX_STEPS:
            steps += 1
            address = memory.get(slot)
            if not isinstance(address, tuple):
                break
            last = self.children.get((state, address))
            if last is not None:
                state = last
            else:
                last = self._on_path(state, address)
                if last == _ROOT:
                    break
            if self.states[state].verdict != VERDICT_UNDECIDED:
                return Walk(self.states[state].verdict, state, steps)
            advanced = self._advance(last, memory, slot, rbp)
            if advanced is None:
                break
            slot, rbp = advanced
        return Walk(VERDICT_FORWARD, state, steps)

    def _on_path(self, state: int, address: Address) -> int:
        """The state among `state` and its ancestors that has this address; the root if none."""
        while state != _ROOT and self.addresses[state] != address:
            state = self.states[state].parent
        return state

    def _advance(
        self, last: int, memory: Mapping[int, Address | int], slot: int, rbp: int | None
    ) -> tuple[int, int | None] | None:
        """The next slot and the caller's rbp; None if the walk ends.

        If `rbp` is None, `memory` holds only return addresses, one every eight bytes.
        """
        state = self.states[last]
        if state.rule not in (RULE_CONSTANT, RULE_FRAME_POINTER):
            return None
        if rbp is None:
            return slot + 8, None
        there = slot + state.step
        if state.rule == RULE_FRAME_POINTER:
            there = rbp + state.step
            if not 8 <= there - slot <= _FARTHEST_FRAME or there % 8:
                return None
        if state.rbp_saved_below:
            saved = memory.get(there - state.rbp_saved_below)
            if not isinstance(saved, int):
                return None
            rbp = saved
        return there, rbp
