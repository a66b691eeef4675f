"""The compact form of a plan, to bytes and back (docs/plan-format.md)."""

from __future__ import annotations

import struct
import zlib
from itertools import islice
from typing import NamedTuple

from halo.alignment.model import CheckedModule, Relaxation
from halo.errors import BadPlan
from halo.plan.model import (
    FORWARD,
    LEAST_SITE_OFFSET,
    MAX_RELAXATIONS,
    MOST_CONJUNCTIONS,
    MOST_GROUPS,
    MOST_MODULES,
    MOST_OBJECT_BYTES,
    MOST_SITES,
    MOST_SITES_OF_CONJUNCTION,
    MOST_STATES,
    MOST_STEP_BYTES,
    NO_OFFSET,
    OLDEST_VERSION,
    REUSE_CHUNKS,
    RULE_CONSTANT,
    RULE_END,
    RULE_FRAME_POINTER,
    SELECTOR_VERSION,
    VERSION,
    Conjunction,
    Plan,
    PlanGroup,
    PlanModule,
    PlanSite,
    Selectors,
    State,
)

MAGIC = b"HALOPLAN"
HEADER = struct.Struct("<8sIIQIIIIIIIIII")
MODULE = struct.Struct("<32sII")
GROUP = struct.Struct("<IIQ")
STATE = struct.Struct("<IIQiBBHhHI")
SITE = struct.Struct("<IIQII")
CONJUNCTION = struct.Struct("<HHHH12H")
CHECKED = struct.Struct("<32sIIQ")
RELAXATION = struct.Struct("<QBBHI")
_NO_SITE = 0xFFFF
_HUGE_PAGES = 1
_AT_RANDOM = 2
_SELECTORS = 4
_BY_SIZE = 2
_RESTORES_RBP = 1
_IMMEDIATE = 1
assert (HEADER.size, MODULE.size, GROUP.size, STATE.size) == (64, 40, 16, 32)
assert (SITE.size, CONJUNCTION.size) == (24, 32)
assert (CHECKED.size, RELAXATION.size) == (48, 16)


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
    sites: tuple[PlanSite, ...] = ()
    conjunctions: tuple[Conjunction, ...] = ()
    if plan.selectors is not None:
        sites, conjunctions = plan.selectors
    for site in sites:
        flags = _IMMEDIATE if site.immediate else 0
        body += SITE.pack(site.module, flags, site.offset, site.step, 0)
    for each in conjunctions:
        numbers = [*each.sites, *[_NO_SITE] * MOST_SITES_OF_CONJUNCTION]
        body += CONJUNCTION.pack(
            each.group,
            each.alignment,
            len(each.sites),
            0,
            *numbers[:MOST_SITES_OF_CONJUNCTION],
        )
    for checked in plan.checked:
        build_id = bytes.fromhex(checked.build_id)
        body += CHECKED.pack(build_id, len(build_id), len(checked.relaxations), 0)
    relaxations = [each for checked in plan.checked for each in checked.relaxations]
    for relaxation in relaxations:
        body += RELAXATION.pack(*relaxation, 0, 0)
    header = HEADER.pack(
        MAGIC,
        VERSION,
        zlib.crc32(body),
        HEADER.size + len(body),
        len(plan.modules),
        len(plan.groups),
        len(plan.states),
        plan.max_object,
        _flags(plan),
        0 if plan.executable is None else plan.executable + 1,
        len(sites),
        len(conjunctions),
        len(plan.checked),
        len(relaxations),
    )
    return header + bytes(body)


def _flags(plan: Plan) -> int:
    return (
        (_HUGE_PAGES if plan.huge_pages else 0)
        | (_AT_RANDOM if plan.at_random else 0)
        | (0 if plan.selectors is None else _SELECTORS)
    )


def crc_of(content: bytes) -> int:
    """The checksum in the header of an encoded plan."""
    return int(HEADER.unpack_from(content)[2])


def decode(content: bytes, name: str) -> Plan:
    """The plan in these bytes; `name` is what error sentences call the file.

    Raises `BadPlan` for everything that the runtime would refuse, too.
    """
    head = _checked_header(content, name)
    at = HEADER.size

    def section(record: struct.Struct, count: int) -> bytes:
        nonlocal at
        at += count * record.size
        return content[at - count * record.size : at]

    modules = section(MODULE, head.modules)
    groups = section(GROUP, head.groups)
    states = section(STATE, head.states)
    sites = section(SITE, head.sites)
    conjunctions = section(CONJUNCTION, head.conjunctions)
    checked = section(CHECKED, head.checked)
    relaxations = section(RELAXATION, head.relaxations)
    plan = Plan(
        modules=tuple(_module(name, *row) for row in MODULE.iter_unpack(modules)),
        groups=tuple(_group(name, *row) for row in GROUP.iter_unpack(groups)),
        states=_states(states, head.modules, head.groups, name),
        max_object=head.max_object,
        huge_pages=bool(head.flags & _HUGE_PAGES),
        executable=head.executable - 1 if head.executable else None,
        at_random=bool(head.flags & _AT_RANDOM),
        selectors=_selectors(sites, conjunctions, head, name),
        checked=_checked(checked, relaxations, name),
    )
    if plan.selectors is not None and not _forwards(plan):
        raise BadPlan(f"{name} is not usable: it has selectors and states.")
    if plan.at_random and not _may_draw(plan):
        raise BadPlan(f"{name} is not usable: it draws groups at random and looks at callers.")
    return plan


def _may_draw(plan: Plan) -> bool:
    """Whether a plan that draws its groups says nothing of callers."""
    named = 0 if plan.executable is None else 1
    fit = _forwards(plan) and plan.states[0].alignment <= 16 and plan.selectors is None
    return bool(plan.groups) and fit and len(plan.modules) == named


def _forwards(plan: Plan) -> bool:
    """Whether the states say nothing, as they have to where something else does."""
    return len(plan.states) == 1 and plan.states[0].verdict == FORWARD


class _Head(NamedTuple):
    """What the header says of a file that is whole and ours."""

    version: int
    modules: int
    groups: int
    states: int
    max_object: int
    flags: int
    executable: int
    sites: int
    conjunctions: int
    checked: int
    relaxations: int

    @property
    def selects(self) -> bool:
        """Whether selectors identify groups."""
        return self.version == SELECTOR_VERSION or bool(self.flags & _SELECTORS)

    @property
    def body_size(self) -> int:
        return (
            self.modules * MODULE.size
            + self.groups * GROUP.size
            + self.states * STATE.size
            + self.sites * SITE.size
            + self.conjunctions * CONJUNCTION.size
            + self.checked * CHECKED.size
            + self.relaxations * RELAXATION.size
        )


def _checked_header(content: bytes, name: str) -> _Head:
    if not content:
        raise BadPlan(f"{name} is empty; plan again.")
    if content[: len(MAGIC)] != MAGIC[: len(content)]:
        raise BadPlan(f"{name} is not a plan: it does not begin with {MAGIC.decode()}.")
    if len(content) < HEADER.size:
        raise BadPlan(f"{name} is cut short; plan again.")
    _, version, crc, size, *counts = HEADER.unpack_from(content)
    if version > VERSION:
        raise BadPlan(
            f"{name} has plan version {version}, this halo reads up to {VERSION}; "
            "use the newer halo."
        )
    if version < OLDEST_VERSION:
        raise BadPlan(f"{name} has the plan version {version}, which never existed.")
    if len(content) < size:
        raise BadPlan(f"{name} is cut short; plan again.")
    head = _Head(version, *counts)
    unknown = not head.selects and (head.sites or head.conjunctions)
    if unknown or (version < VERSION and (head.checked or head.relaxations)):
        raise BadPlan(f"{name} is not usable: it has a header field that is not known.")
    whole = len(content) == size == HEADER.size + head.body_size
    if not whole or zlib.crc32(content[HEADER.size :]) != crc:
        raise BadPlan(f"{name} is damaged; plan again.")
    if (
        head.modules > MOST_MODULES
        or head.groups > MOST_GROUPS
        or not 0 < head.states <= MOST_STATES
        or head.sites > MOST_SITES
        or head.conjunctions > MOST_CONJUNCTIONS
        or head.checked > MOST_MODULES
        or head.relaxations > MAX_RELAXATIONS
    ):
        raise BadPlan(f"{name} is not usable: it has too many parts, or no states.")
    known = _HUGE_PAGES | _AT_RANDOM | (_SELECTORS if version == VERSION else 0)
    if head.max_object > MOST_OBJECT_BYTES or head.flags & ~known:
        raise BadPlan(f"{name} is not usable: its object limit or flags are unknown.")
    if head.executable > head.modules:
        raise BadPlan(f"{name} is not usable: it is for a module that is not there.")
    return head


def _selectors(sites: bytes, conjunctions: bytes, head: _Head, name: str) -> Selectors | None:
    if not head.selects:
        return None
    found = Selectors(
        tuple(_site(name, *row) for row in SITE.iter_unpack(sites)),
        tuple(_conjunction(name, *row) for row in CONJUNCTION.iter_unpack(conjunctions)),
    )
    for at, site in enumerate(found.sites):
        if site.module >= head.modules or not LEAST_SITE_OFFSET <= site.offset < NO_OFFSET:
            raise BadPlan(f"{name} is not usable: call site {at} is nowhere.")
        if site.step > MOST_STEP_BYTES or site.step % 8:
            raise BadPlan(f"{name} is not usable: call site {at} has a step that leads nowhere.")
    for at, each in enumerate(found.conjunctions):
        if each.group >= head.groups or any(site >= head.sites for site in each.sites):
            raise BadPlan(f"{name} is not usable: conjunction {at} names what is not there.")
        if each.alignment not in (0, 8, 16):
            raise BadPlan(
                f"{name} is not usable: conjunction {at} asks for an impossible alignment."
            )
    return found


def _site(name: str, module: int, flags: int, offset: int, step: int, reserved: int) -> PlanSite:
    if flags & ~_IMMEDIATE or reserved:
        raise BadPlan(f"{name} is not usable: a call site has unknown flags.")
    return PlanSite(module, offset, step, bool(flags & _IMMEDIATE))


def _conjunction(
    name: str, group: int, alignment: int, count: int, reserved: int, *sites: int
) -> Conjunction:
    unused = sites[count:]
    if not 1 <= count <= len(sites) or reserved or any(site != _NO_SITE for site in unused):
        raise BadPlan(f"{name} is not usable: a conjunction is not as it should be.")
    return Conjunction(group, alignment, sites[:count])


def _checked(modules: bytes, relaxations: bytes, name: str) -> tuple[CheckedModule, ...]:
    found = []
    rows = RELAXATION.iter_unpack(relaxations)
    for build_id, length, count, reserved in CHECKED.iter_unpack(modules):
        if reserved or not 1 <= length <= len(build_id):
            raise BadPlan(f"{name} is not usable: a checked module has no build-id.")
        mine = tuple(_relaxation(name, *row) for row in islice(rows, count))
        if len(mine) != count:
            raise BadPlan(f"{name} is not usable: a checked module lacks its relaxations.")
        found.append(CheckedModule(build_id[:length].hex(), mine))
    if next(rows, None) is not None:
        raise BadPlan(f"{name} is not usable: a relaxation is of no module.")
    return tuple(found)


def _relaxation(name: str, offset: int, before: int, after: int, *reserved: int) -> Relaxation:
    if any(reserved) or offset >= NO_OFFSET:
        raise BadPlan(f"{name} is not usable: a relaxation is nowhere.")
    return Relaxation(offset, before, after)


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
