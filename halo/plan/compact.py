"""The compact form of a plan, to bytes and back (docs/plan-format.md, version 1)."""

from __future__ import annotations

import struct
import zlib
from itertools import islice

from halo.errors import BadPlan
from halo.plan.model import (
    FORWARD,
    MOST_GROUPS,
    MOST_MODULES,
    MOST_OBJECT_BYTES,
    MOST_STATES,
    MOST_STEP_BYTES,
    NO_OFFSET,
    REUSE_CHUNKS,
    RULE_CONSTANT,
    RULE_END,
    RULE_FRAME_POINTER,
    VERSION,
    Plan,
    PlanGroup,
    PlanModule,
    State,
)

MAGIC = b"HALOPLAN"
HEADER = struct.Struct("<8sIIQIIIIIIQQ")
MODULE = struct.Struct("<32sII")
GROUP = struct.Struct("<IIQ")
STATE = struct.Struct("<IIQiBBHhHI")
_HUGE_PAGES = 1
_AT_RANDOM = 2
_BY_SIZE = 2
_RESTORES_RBP = 1
assert (HEADER.size, MODULE.size, GROUP.size, STATE.size) == (64, 40, 16, 32)


def encode(plan: Plan) -> bytes:
    """The bytes of the compact form."""
    body = bytearray()
    for module in plan.modules:
        build_id = bytes.fromhex(module.build_id)
        body += MODULE.pack(build_id, len(build_id), 0)
    for group in plan.groups:
        flags = (_HUGE_PAGES if group.huge_pages else 0) | (_BY_SIZE if group.by_size else 0)
        body += GROUP.pack(flags, group.reuse, 0)
    for state in plan.states:
        body += STATE.pack(
            state.parent,
            state.module,
            state.offset,
            state.step,
            state.rule,
            _RESTORES_RBP if state.rbp_saved_below else 0,
            state.verdict,
            state.rbp_saved_below,
            state.alignment,
            0,
        )
    header = HEADER.pack(
        MAGIC,
        VERSION,
        zlib.crc32(body),
        HEADER.size + len(body),
        len(plan.modules),
        len(plan.groups),
        len(plan.states),
        plan.max_object,
        (_HUGE_PAGES if plan.huge_pages else 0) | (_AT_RANDOM if plan.at_random else 0),
        0 if plan.executable is None else plan.executable + 1,
        0,
        0,
    )
    return header + bytes(body)


def crc_of(content: bytes) -> int:
    """The checksum in the header of an encoded plan."""
    return int(HEADER.unpack_from(content)[2])


def decode(content: bytes, name: str) -> Plan:
    """The plan in these bytes; `name` is what error sentences call the file.

    Raises `BadPlan` for everything that the runtime would refuse, too.
    """
    modules, groups, max_object, flags, executable = _checked_header(content, name)
    at = HEADER.size
    module_rows = MODULE.iter_unpack(content[at : at + modules * MODULE.size])
    at += modules * MODULE.size
    group_rows = GROUP.iter_unpack(content[at : at + groups * GROUP.size])
    at += groups * GROUP.size
    plan = Plan(
        modules=tuple(_module(name, *row) for row in module_rows),
        groups=tuple(_group(name, *row) for row in group_rows),
        states=_states(content[at:], modules, groups, name),
        max_object=max_object,
        huge_pages=bool(flags & _HUGE_PAGES),
        executable=executable - 1 if executable else None,
        at_random=bool(flags & _AT_RANDOM),
    )
    if plan.at_random and not _may_draw(plan):
        raise BadPlan(f"{name} is not usable: it draws groups at random and looks at callers.")
    return plan


def _may_draw(plan: Plan) -> bool:
    """Whether a plan that draws its groups says nothing of callers."""
    root, *others = plan.states
    named = 0 if plan.executable is None else 1
    fit = root.verdict == FORWARD and root.alignment <= 16 and not others
    return bool(plan.groups) and fit and len(plan.modules) == named


def _checked_header(content: bytes, name: str) -> tuple[int, int, int, int, int]:
    """Modules, groups, object limit, flags, executable of a file that is whole and ours."""
    if not content:
        raise BadPlan(f"{name} is empty; plan again.")
    if content[: len(MAGIC)] != MAGIC[: len(content)]:
        raise BadPlan(f"{name} is not a plan: it does not begin with {MAGIC.decode()}.")
    if len(content) < HEADER.size:
        raise BadPlan(f"{name} is cut short; plan again.")
    _, version, crc, size, modules, groups, states, *rest = HEADER.unpack_from(content)
    max_object, flags, executable, *reserved = rest
    if version > VERSION:
        raise BadPlan(
            f"{name} has plan version {version}, this halo reads up to {VERSION}; "
            "use the newer halo."
        )
    if version != VERSION:
        raise BadPlan(f"{name} has the plan version {version}, which never existed.")
    if len(content) < size:
        raise BadPlan(f"{name} is cut short; plan again.")
    needed = HEADER.size + modules * MODULE.size + groups * GROUP.size + states * STATE.size
    if not len(content) == size == needed or zlib.crc32(content[HEADER.size :]) != crc:
        raise BadPlan(f"{name} is damaged; plan again.")
    if modules > MOST_MODULES or groups > MOST_GROUPS or not 0 < states <= MOST_STATES:
        raise BadPlan(f"{name} is not usable: it has too many parts, or no states.")
    if max_object > MOST_OBJECT_BYTES or flags & ~(_HUGE_PAGES | _AT_RANDOM):
        raise BadPlan(f"{name} is not usable: its object limit or flags are unknown.")
    if any(reserved):
        raise BadPlan(f"{name} is not usable: it has a header field that is not known.")
    if executable > modules:
        raise BadPlan(f"{name} is not usable: it is for a module that is not there.")
    return modules, groups, max_object, flags, executable


def _module(name: str, build_id: bytes, length: int, reserved: int) -> PlanModule:
    if reserved:
        raise BadPlan(f"{name} is not usable: a module has a field that is not known.")
    if not 1 <= length <= len(build_id):
        raise BadPlan(f"{name} is not usable: a module has no build-id.")
    return PlanModule(build_id[:length].hex())


def _group(name: str, flags: int, reuse: int, reserved: int) -> PlanGroup:
    if flags & ~(_HUGE_PAGES | _BY_SIZE) or reuse > REUSE_CHUNKS or reserved:
        raise BadPlan(f"{name} is not usable: a group's flags or reuse policy are unknown.")
    return PlanGroup(bool(flags & _HUGE_PAGES), reuse, bool(flags & _BY_SIZE))


def _states(content: bytes, modules: int, groups: int, name: str) -> tuple[State, ...]:
    states: list[State] = []
    seen = set()
    for row in STATE.iter_unpack(content):
        parent, module, offset, step, rule, flags, verdict, below, alignment, reserved = row
        if flags & ~_RESTORES_RBP or bool(flags) != bool(below) or reserved:
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
    """What is wrong with a state's own fields; empty if nothing is."""
    if state.verdict < FORWARD and state.verdict >= groups:
        return "names a group that is not there"
    if state.rule not in (RULE_END, RULE_CONSTANT, RULE_FRAME_POINTER):
        return "has an unknown walk rule"
    if state.rule == RULE_CONSTANT and (not 8 <= state.step <= MOST_STEP_BYTES or state.step % 8):
        return "has a step that leads nowhere"
    if state.rule == RULE_FRAME_POINTER and state.step % 8:
        return "has a step that leads nowhere"
    if not 0 <= state.offset < NO_OFFSET:
        return "names an address that no program has"
    if state.rbp_saved_below < 0 or state.rbp_saved_below % 8:
        return "restores rbp from nowhere"
    if state.rule == RULE_CONSTANT and state.rbp_saved_below >= state.step:
        return "restores rbp from nowhere"
    if state.alignment not in (0, 8, 16, 32, 64):
        return "asks for an impossible alignment"
    return ""
