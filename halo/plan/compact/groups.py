"""Groups in a compact plan: flags, page layouts and spans, both ways."""

from __future__ import annotations

from halo.base.errors import BadPlan
from halo.plan.layout import (
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
    LAYOUT_VERSION,
    MAX_DENSITY,
    MAX_RING,
    MAX_WAY,
    MIN_RING,
    MIN_WAY,
    OLD_GROUP_FLAGS,
    REUSE_WHOLE_CHUNKS,
    RING_DENSITY,
    SPAN_VERSION,
)
from halo.plan.model import SPREAD, PageLayout, PlanGroup, Spans


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


def decode_group(name: str, version: int, flags: int, reuse: int, starts: int) -> PlanGroup:
    if flags & ~_known_group_flags(version) or reuse > REUSE_WHOLE_CHUNKS:
        raise BadPlan(f"{name} is not usable: a group's flags or reuse policy are unknown.")
    by_size = bool(flags & GROUP_BY_SIZE)
    spans = _spans(name, flags, starts)
    layout = _layout(name, flags, starts if spans is None else 0)
    if layout != SPREAD and not by_size:
        raise BadPlan(f"{name} is not usable: a group has a page layout but mixed-size pages.")
    return PlanGroup(bool(flags & GROUP_HUGE_PAGES), reuse, by_size, layout, spans)


def _known_group_flags(version: int) -> int:
    if version < LAYOUT_VERSION:
        return OLD_GROUP_FLAGS
    return GROUP_FLAGS if version >= SPAN_VERSION else GROUP_FLAGS & ~GROUP_SPAN_FLAGS


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
