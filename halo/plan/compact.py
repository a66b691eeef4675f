"""Encodes and decodes the compact form of a plan (docs/plan-format.md)."""

from __future__ import annotations

import struct
import zlib
from itertools import islice
from typing import NamedTuple

from halo.alignment.model import CheckedModule, Relaxation
from halo.errors import BadPlan
from halo.plan.hints.layout import HINT_HEADER, HINT_VERSION
from halo.plan.hints.rules import HintCounts, decode_hints, encode_head, encode_hints
from halo.plan.layout import (
    CALL_BYTES,
    CHECKED_MODULE,
    CHECKED_VERSION,
    CONJUNCTION,
    GROUP,
    GROUP_BY_SIZE,
    GROUP_CONFINED,
    GROUP_FLAGS,
    GROUP_HUGE_PAGES,
    GROUP_LINE_START,
    GROUP_MASKED,
    GROUP_PACKED,
    GROUP_SPAN_FLAGS,
    GROUP_SPANS,
    GROUP_STEPPING,
    GROUP_WAY,
    GROUP_WAY_BIT,
    HEADER,
    HEADER_FLAGS,
    HEADER_HUGE_PAGES,
    HEADER_RANDOM_POOLS,
    HEADER_SELECTORS,
    LAYOUT_VERSION,
    MAGIC,
    MAX_CONJUNCTION_SITES,
    MAX_CONJUNCTIONS,
    MAX_DENSITY,
    MAX_GROUPS,
    MAX_MODULES,
    MAX_OBJECT_LIMIT,
    MAX_OFFSET,
    MAX_RELAXATIONS,
    MAX_RING,
    MAX_SITES,
    MAX_STATES,
    MAX_STEP,
    MAX_WAY,
    MIN_RING,
    MIN_WAY,
    MODULE,
    NO_SITE,
    OLD_GROUP_FLAGS,
    OLD_HEADER_FLAGS,
    OLDEST_VERSION,
    RELAXATION,
    REUSE_WHOLE_CHUNKS,
    RING_DENSITY,
    RULE_CONSTANT,
    RULE_END,
    RULE_FRAME_POINTER,
    SELECTOR_VERSION,
    SITE,
    SITE_IMMEDIATE,
    SPAN_VERSION,
    STATE,
    STATE_RESTORES_RBP,
    VERDICT_FORWARD,
    VERSION,
)
from halo.plan.model import (
    SPREAD,
    Conjunction,
    PageLayout,
    Plan,
    PlanGroup,
    PlanModule,
    PlanSite,
    Selectors,
    Spans,
    State,
)


def encode(plan: Plan) -> bytes:
    """The bytes of the compact form."""
    body = bytearray(encode_head(plan.hints) if plan.version >= HINT_VERSION else b"")
    for module in plan.modules:
        build_id = bytes.fromhex(module.build_id)
        body += MODULE.pack(build_id, len(build_id), 0)
    for group in plan.groups:
        flags, starts = group_flags(group)
        body += GROUP.pack(flags, group.reuse, starts)
    for state in plan.states:
        body += STATE.pack(
            state.parent,
            state.module,
            state.offset,
            state.step,
            state.rule,
            STATE_RESTORES_RBP if state.rbp_saved_below else 0,
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
        flags = SITE_IMMEDIATE if site.immediate else 0
        body += SITE.pack(site.module, flags, site.offset, site.step, 0)
    for each in conjunctions:
        numbers = [*each.sites, *[NO_SITE] * MAX_CONJUNCTION_SITES]
        body += CONJUNCTION.pack(
            each.group,
            each.alignment,
            len(each.sites),
            0,
            *numbers[:MAX_CONJUNCTION_SITES],
        )
    for checked in plan.checked:
        build_id = bytes.fromhex(checked.build_id)
        body += CHECKED_MODULE.pack(build_id, len(build_id), len(checked.relaxations), 0)
    relaxations = [each for checked in plan.checked for each in checked.relaxations]
    for relaxation in relaxations:
        body += RELAXATION.pack(*relaxation, 0, 0)
    body += encode_hints(plan.hints)
    header = HEADER.pack(
        MAGIC,
        plan.version,
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


def group_flags(group: PlanGroup) -> tuple[int, int]:
    """The flags, and the mask of permitted starts or the ring and the density."""
    flags, starts = _layout_flags(group)
    if group.spans is None:
        return flags, starts
    confined = GROUP_CONFINED if group.spans.confined else 0
    return flags | GROUP_SPANS | confined, group.spans.ring | group.spans.density


def _layout_flags(group: PlanGroup) -> tuple[int, int]:
    layout = group.layout
    flags = (GROUP_HUGE_PAGES if group.huge_pages else 0) | (GROUP_BY_SIZE if group.by_size else 0)
    if layout.packed:
        return flags | GROUP_PACKED, 0
    flags |= GROUP_LINE_START if layout.line_start else 0
    flags |= GROUP_STEPPING if layout.stepping else 0
    if layout._replace(line_start=False) == SPREAD:
        return flags, 0
    way = layout.way_bytes.bit_length() - 1
    return flags | GROUP_MASKED | way << GROUP_WAY_BIT, layout.starts


def _flags(plan: Plan) -> int:
    return (
        (HEADER_HUGE_PAGES if plan.huge_pages else 0)
        | (HEADER_RANDOM_POOLS if plan.at_random else 0)
        | (0 if plan.selectors is None else HEADER_SELECTORS)
    )


def crc_of(content: bytes) -> int:
    """The checksum in the header of an encoded plan."""
    return int(HEADER.unpack_from(content)[2])


def decode(content: bytes, name: str) -> Plan:
    """The plan in these bytes; error messages call the file `name`.

    Raises `BadPlan` for everything that the runtime refuses.
    """
    head = _checked_header(content, name)
    at = len(content) - head.body_size

    def section(record: struct.Struct, count: int) -> bytes:
        nonlocal at
        at += count * record.size
        return content[at - count * record.size : at]

    modules = section(MODULE, head.modules)
    groups = section(GROUP, head.groups)
    states = section(STATE, head.states)
    sites = section(SITE, head.sites)
    conjunctions = section(CONJUNCTION, head.conjunctions)
    checked = section(CHECKED_MODULE, head.checked)
    relaxations = section(RELAXATION, head.relaxations)
    hints = decode_hints(content[at:], head.hints, head.modules, name)
    plan = Plan(
        modules=tuple(_module(name, *row) for row in MODULE.iter_unpack(modules)),
        groups=tuple(_group(name, head.version, *row) for row in GROUP.iter_unpack(groups)),
        states=_states(states, head.modules, head.groups, name),
        max_object=head.max_object,
        huge_pages=bool(head.flags & HEADER_HUGE_PAGES),
        executable=head.executable - 1 if head.executable else None,
        at_random=bool(head.flags & HEADER_RANDOM_POOLS),
        selectors=_selectors(sites, conjunctions, head, name),
        checked=_checked(checked, relaxations, name),
        hints=hints,
    )
    if hints and (plan.selectors is not None or plan.at_random):
        raise BadPlan(f"{name} is not usable: it has hints and does not use callers.")
    if plan.selectors is not None and not _forwards(plan):
        raise BadPlan(f"{name} is not usable: it has selectors and states.")
    if plan.at_random and not _may_draw(plan):
        raise BadPlan(f"{name} is not usable: it draws groups at random and has states.")
    return plan


def _may_draw(plan: Plan) -> bool:
    """Whether a plan that draws its groups has neither states nor selectors."""
    named = 0 if plan.executable is None else 1
    fit = _forwards(plan) and plan.states[0].alignment <= 16 and plan.selectors is None
    return bool(plan.groups) and fit and len(plan.modules) == named


def _forwards(plan: Plan) -> bool:
    """Whether the root is the only state and forwards, as it has to beside another policy."""
    return len(plan.states) == 1 and plan.states[0].verdict == VERDICT_FORWARD


class _Head(NamedTuple):
    """The header of a complete plan file: counts of records, and settings."""

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
    hints: HintCounts

    @property
    def selects(self) -> bool:
        """Whether selectors identify groups."""
        return self.version == SELECTOR_VERSION or bool(self.flags & HEADER_SELECTORS)

    @property
    def body_size(self) -> int:
        return (
            self.modules * MODULE.size
            + self.groups * GROUP.size
            + self.states * STATE.size
            + self.sites * SITE.size
            + self.conjunctions * CONJUNCTION.size
            + self.checked * CHECKED_MODULE.size
            + self.relaxations * RELAXATION.size
            + self.hints.body_size
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
    body = HEADER.size
    hints = HintCounts()
    if version >= HINT_VERSION:
        body += HINT_HEADER.size
        if len(content) < body:
            raise BadPlan(f"{name} is cut short; plan again.")
        hints = HintCounts(*HINT_HEADER.unpack_from(content, HEADER.size))
    head = _Head._make((version, *counts, hints))
    unknown = not head.selects and (head.sites or head.conjunctions)
    if unknown or (version < CHECKED_VERSION and (head.checked or head.relaxations)):
        raise BadPlan(f"{name} is not usable: it has a header field that is unknown.")
    whole = len(content) == size == body + head.body_size
    if not whole or zlib.crc32(content[HEADER.size :]) != crc:
        raise BadPlan(f"{name} is damaged; plan again.")
    if (
        head.modules > MAX_MODULES
        or head.groups > MAX_GROUPS
        or not 0 < head.states <= MAX_STATES
        or head.sites > MAX_SITES
        or head.conjunctions > MAX_CONJUNCTIONS
        or head.checked > MAX_MODULES
        or head.relaxations > MAX_RELAXATIONS
    ):
        raise BadPlan(f"{name} is not usable: it has too many parts, or no states.")
    known = OLD_HEADER_FLAGS if version < CHECKED_VERSION else HEADER_FLAGS
    if head.max_object > MAX_OBJECT_LIMIT or head.flags & ~known:
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
        if site.module >= head.modules or not CALL_BYTES <= site.offset < MAX_OFFSET:
            raise BadPlan(f"{name} is not usable: call site {at} has no valid address.")
        if site.step > MAX_STEP or site.step % 8:
            raise BadPlan(f"{name} is not usable: call site {at} has an impossible step.")
    for at, each in enumerate(found.conjunctions):
        if each.group >= head.groups or any(site >= head.sites for site in each.sites):
            raise BadPlan(f"{name} is not usable: conjunction {at} names a missing group or site.")
        if each.alignment not in (0, 8, 16):
            raise BadPlan(
                f"{name} is not usable: conjunction {at} requires an impossible alignment."
            )
    return found


def _site(name: str, module: int, flags: int, offset: int, step: int, reserved: int) -> PlanSite:
    if flags & ~SITE_IMMEDIATE or reserved:
        raise BadPlan(f"{name} is not usable: a call site has unknown flags.")
    return PlanSite(module, offset, step, bool(flags & SITE_IMMEDIATE))


def _conjunction(
    name: str, group: int, alignment: int, count: int, reserved: int, *sites: int
) -> Conjunction:
    unused = sites[count:]
    if not 1 <= count <= len(sites) or reserved or any(site != NO_SITE for site in unused):
        raise BadPlan(f"{name} is not usable: a conjunction is malformed.")
    return Conjunction(group, alignment, sites[:count])


def _checked(modules: bytes, relaxations: bytes, name: str) -> tuple[CheckedModule, ...]:
    found = []
    rows = RELAXATION.iter_unpack(relaxations)
    for build_id, length, count, reserved in CHECKED_MODULE.iter_unpack(modules):
        if reserved or not 1 <= length <= len(build_id):
            raise BadPlan(f"{name} is not usable: a checked module has no build-id.")
        mine = tuple(_relaxation(name, *row) for row in islice(rows, count))
        if len(mine) != count:
            raise BadPlan(f"{name} is not usable: a checked module lacks its relaxations.")
        found.append(CheckedModule(build_id[:length].hex(), mine))
    if next(rows, None) is not None:
        raise BadPlan(f"{name} is not usable: a relaxation belongs to no module.")
    return tuple(found)


def _relaxation(name: str, offset: int, before: int, after: int, *reserved: int) -> Relaxation:
    if any(reserved) or offset >= MAX_OFFSET:
        raise BadPlan(f"{name} is not usable: a relaxation has no valid address.")
    return Relaxation(offset, before, after)


def _module(name: str, build_id: bytes, length: int, reserved: int) -> PlanModule:
    if reserved:
        raise BadPlan(f"{name} is not usable: a module has an unknown field.")
    if not 1 <= length <= len(build_id):
        raise BadPlan(f"{name} is not usable: a module has no build-id.")
    return PlanModule(build_id[:length].hex())


def _known_group_flags(version: int) -> int:
    if version < LAYOUT_VERSION:
        return OLD_GROUP_FLAGS
    return GROUP_FLAGS if version >= SPAN_VERSION else GROUP_FLAGS & ~GROUP_SPAN_FLAGS


def _group(name: str, version: int, flags: int, reuse: int, starts: int) -> PlanGroup:
    if flags & ~_known_group_flags(version) or reuse > REUSE_WHOLE_CHUNKS:
        raise BadPlan(f"{name} is not usable: a group's flags or reuse policy are unknown.")
    by_size = bool(flags & GROUP_BY_SIZE)
    spans = _spans(name, flags, starts)
    layout = _layout(name, flags, starts if spans is None else 0)
    if layout != SPREAD and not by_size:
        raise BadPlan(f"{name} is not usable: a group has a page layout but mixed-size pages.")
    return PlanGroup(bool(flags & GROUP_HUGE_PAGES), reuse, by_size, layout, spans)


def _spans(name: str, flags: int, starts: int) -> Spans | None:
    confined = bool(flags & GROUP_CONFINED)
    if not flags & GROUP_SPANS:
        if confined:
            raise BadPlan(f"{name} is not usable: it confines a group without spans.")
        return None
    ring, density = starts & ~RING_DENSITY, starts & RING_DENSITY
    if flags & GROUP_MASKED:
        raise BadPlan(f"{name} is not usable: a group has spans and a mask.")
    if confined if not ring else not MIN_RING <= ring <= MAX_RING:
        raise BadPlan(f"{name} is not usable: a group has a ring of an impossible size.")
    if density > MAX_DENSITY:
        raise BadPlan(f"{name} is not usable: a page has too many lines.")
    return Spans(ring, confined, density)


def _layout(name: str, flags: int, starts: int) -> PageLayout:
    masked, packed = flags & GROUP_MASKED, flags & GROUP_PACKED
    line_start = bool(flags & GROUP_LINE_START)
    stepping = bool(flags & GROUP_STEPPING)
    way = (flags & GROUP_WAY) >> GROUP_WAY_BIT
    exclusive = packed or (stepping and line_start)
    if masked and not exclusive and starts and MIN_WAY <= way <= MAX_WAY:
        return PageLayout(starts, 1 << way, line_start=line_start, stepping=stepping)
    if masked or stepping or starts or way or (packed and line_start):
        raise BadPlan(f"{name} is not usable: a group's page layout is impossible.")
    return PageLayout(packed=bool(packed), line_start=line_start)


def _states(content: bytes, modules: int, groups: int, name: str) -> tuple[State, ...]:
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
