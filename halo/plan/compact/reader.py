"""Decodes the compact form of a plan (docs/plan-format.md)."""

from __future__ import annotations

import struct
from itertools import islice

from halo.base.errors import BadPlan
from halo.binary.alignment.model import CheckedModule, Relaxation
from halo.plan.compact.groups import decode_group
from halo.plan.compact.header import checked_header
from halo.plan.compact.selectors import decode_selectors
from halo.plan.compact.states import decode_states
from halo.plan.layout import (
    CHECKED_MODULE,
    CONJUNCTION,
    DIGEST_VERSION,
    GROUP,
    HEADER_HUGE_PAGES,
    HEADER_RANDOM_POOLS,
    MAX_OFFSET,
    MODULE,
    RELAXATION,
    SITE,
    STATE,
    VERDICT_FORWARD,
)
from halo.plan.model import Plan, PlanModule


def decode(content: bytes, name: str) -> Plan:
    """The plan in these bytes; error messages call the file `name`.

    Raises `BadPlan` for everything that the runtime refuses.
    """
    head = checked_header(content, name)
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
    plan = Plan(
        modules=tuple(_module(name, head.version, *row) for row in MODULE.iter_unpack(modules)),
        groups=tuple(decode_group(name, head.version, *row) for row in GROUP.iter_unpack(groups)),
        states=decode_states(states, head.modules, head.groups, name),
        max_object=head.max_object,
        huge_pages=bool(head.flags & HEADER_HUGE_PAGES),
        executable=head.executable - 1 if head.executable else None,
        at_random=bool(head.flags & HEADER_RANDOM_POOLS),
        selectors=decode_selectors(sites, conjunctions, head, name),
        checked=decode_checked(checked, relaxations, head.version, name),
    )
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


def decode_checked(
    modules: bytes, relaxations: bytes, version: int, name: str
) -> tuple[CheckedModule, ...]:
    found = []
    rows = RELAXATION.iter_unpack(relaxations)
    for build_id, length, count, code in CHECKED_MODULE.iter_unpack(modules):
        if (code and version < DIGEST_VERSION) or not 1 <= length <= len(build_id):
            raise BadPlan(f"{name} is not usable: a checked module has no build-id.")
        mine = tuple(_relaxation(name, *row) for row in islice(rows, count))
        if len(mine) != count:
            raise BadPlan(f"{name} is not usable: a checked module lacks its relaxations.")
        found.append(CheckedModule(build_id[:length].hex(), mine, code=code))
    if next(rows, None) is not None:
        raise BadPlan(f"{name} is not usable: a relaxation belongs to no module.")
    return tuple(found)


def _relaxation(name: str, offset: int, before: int, after: int, *reserved: int) -> Relaxation:
    if any(reserved) or offset >= MAX_OFFSET:
        raise BadPlan(f"{name} is not usable: a relaxation has no valid address.")
    return Relaxation(offset, before, after)


def _module(name: str, version: int, build_id: bytes, length: int, layout: int) -> PlanModule:
    if layout and version < DIGEST_VERSION:
        raise BadPlan(f"{name} is not usable: a module has an unknown field.")
    if not 1 <= length <= len(build_id):
        raise BadPlan(f"{name} is not usable: a module has no build-id.")
    return PlanModule(build_id[:length].hex(), layout=layout)
