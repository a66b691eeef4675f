"""Encodes the compact form of a plan (docs/plan-format.md)."""

from __future__ import annotations

import zlib

from halo.plan.compact.groups import group_flags
from halo.plan.layout import (
    CHECKED_MODULE,
    CONJUNCTION,
    GROUP,
    HEADER,
    HEADER_HUGE_PAGES,
    HEADER_RANDOM_POOLS,
    HEADER_SELECTORS,
    HINT_COUNTS,
    HINT_VERSION,
    MAGIC,
    MAX_CONJUNCTION_SITES,
    MODULE,
    NO_SITE,
    RELAXATION,
    SITE,
    SITE_IMMEDIATE,
    STATE,
    STATE_RESTORES_RBP,
)
from halo.plan.model import Conjunction, Plan, PlanSite


def encode(plan: Plan) -> bytes:
    """The bytes of the compact form."""
    body = bytearray(HINT_COUNTS.size if plan.version >= HINT_VERSION else 0)
    for module in plan.modules:
        build_id = bytes.fromhex(module.build_id)
        body += MODULE.pack(build_id, len(build_id), module.layout)
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
        count = len(checked.relaxations)
        body += CHECKED_MODULE.pack(build_id, len(build_id), count, checked.code)
    relaxations = [each for checked in plan.checked for each in checked.relaxations]
    for relaxation in relaxations:
        body += RELAXATION.pack(*relaxation, 0, 0)
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


def _flags(plan: Plan) -> int:
    return (
        (HEADER_HUGE_PAGES if plan.huge_pages else 0)
        | (HEADER_RANDOM_POOLS if plan.at_random else 0)
        | (0 if plan.selectors is None else HEADER_SELECTORS)
    )
