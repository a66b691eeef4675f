"""Selectors in a compact plan."""

from __future__ import annotations

from halo.base.errors import BadPlan
from halo.plan.compact.header import Head
from halo.plan.layout import (
    CALL_BYTES,
    CONJUNCTION,
    MAX_OFFSET,
    MAX_STEP,
    NO_SITE,
    SITE,
    SITE_IMMEDIATE,
)
from halo.plan.model import Conjunction, PlanSite, Selectors


def decode_selectors(sites: bytes, conjunctions: bytes, head: Head, name: str) -> Selectors | None:
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
