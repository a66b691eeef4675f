"""The states of the trie in a compact plan."""

from __future__ import annotations

from itertools import islice

from halo.base.errors import BadPlan
from halo.plan.layout import (
    MAX_OFFSET,
    MAX_STEP,
    RULE_CONSTANT,
    RULE_END,
    RULE_FRAME_POINTER,
    STATE,
    STATE_RESTORES_RBP,
    VERDICT_FORWARD,
)
from halo.plan.model import State


def decode_states(content: bytes, modules: int, groups: int, name: str) -> tuple[State, ...]:
    states: list[State] = []
    seen = set()
    for row in STATE.iter_unpack(content):
        parent, module, offset, step, rule, flags, verdict, below, alignment, reserved = row
        if flags & ~STATE_RESTORES_RBP or bool(flags) != bool(below) or reserved:
            raise BadPlan(f"{name} is not usable: state {len(states)} has unknown flags.")
        states.append(State(parent, module, offset, step, rule, verdict, below, alignment))
    for at, state in enumerate(states):
        problem = _state_problem(state, groups)
        if problem:
            raise BadPlan(f"{name} is not usable: state {at} {problem}.")
    if states[0].parent or states[0].offset:
        raise BadPlan(f"{name} is not usable: state 0 is out of place.")
    for at, state in islice(enumerate(states), 1, None):
        key = state[:3]
        if state.parent >= at or state.module >= modules or key in seen:
            raise BadPlan(f"{name} is not usable: state {at} is out of place.")
        seen.add(key)
    return tuple(states)


def _state_problem(state: State, groups: int) -> str:
    """The problem with a state's own fields, as a clause; empty if there is none."""
    if state.verdict < VERDICT_FORWARD and state.verdict >= groups:
        return "names a group that is not there"
    if state.rule not in (RULE_END, RULE_CONSTANT, RULE_FRAME_POINTER):
        return "has an unknown walk rule"
    if state.rule == RULE_CONSTANT and (not 8 <= state.step <= MAX_STEP or state.step % 8):
        return "has an impossible step"
    if state.rule == RULE_FRAME_POINTER and state.step % 8:
        return "has an impossible step"
    if not 0 <= state.offset < MAX_OFFSET:
        return "has no valid address"
    if state.rbp_saved_below < 0 or state.rbp_saved_below % 8:
        return "restores rbp from an impossible place"
    if state.rule == RULE_CONSTANT and state.rbp_saved_below >= state.step:
        return "restores rbp from an impossible place"
    if state.alignment not in (0, 8, 16, 32, 64):
        return "requires an impossible alignment"
    return ""
