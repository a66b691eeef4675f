"""The groups of the kept plan with their reasons, from its reviewable form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from halo.base.schema.trial import Pool
from halo.plan import GroupReview, Member, Plan
from halo.record.profile.site_labels import distinct_labels
from halo.report.numbers import megabytes, number, share
from halo.report.results.pools import waste_of

SHOWN_GROUPS = 12
SHOWN_CONTEXTS = 8
SHOWN_SIZES = 4


@dataclass(frozen=True)
class ContextLine:
    """One context of a group; `stack` from the caller of malloc outwards."""

    label: str
    share: str
    allocations: str
    sizes: str
    stack: Sequence[str]


@dataclass(frozen=True)
class GroupBlock:
    """One group: its reason and its most accessed contexts; `more` states the number omitted."""

    number: int
    reason: str
    coverage: str
    count: int
    contexts: Sequence[ContextLine]
    more: str


@dataclass(frozen=True)
class WasteLine:
    """A group's memory in bytes at its peak."""

    group: str
    resident: str
    live: str
    waste: str
    part: str


def groups_of(plan: Plan | None) -> list[GroupBlock]:
    """The groups on the page; the labels of their contexts are unique."""
    if plan is None or plan.review is None:
        return []
    totals = plan.review.profile.get("totals", {})
    accesses = int(totals.get("accesses", 0)) or 1
    groups = plan.review.groups[:SHOWN_GROUPS]
    labels = distinct_labels(
        {m.context: m.stack for group in groups for m in group.contexts[:SHOWN_CONTEXTS]}
    )
    return [_block(index, group, accesses, labels) for index, group in enumerate(groups)]


def group_count(plan: Plan | None) -> int:
    return len(plan.review.groups) if plan is not None and plan.review is not None else 0


def waste_lines(pools: Sequence[Pool]) -> list[WasteLine]:
    """Resident and live bytes of each group at its peak of resident memory."""
    return [
        WasteLine(
            group=str(index),
            resident=megabytes(pool["peak_resident_bytes"]),
            live=megabytes(pool["live_at_peak_bytes"]),
            waste=megabytes(waste_of([pool]).bytes),
            part=share(waste_of([pool]).share),
        )
        for index, pool in enumerate(pools)
    ]


def _block(index: int, group: GroupReview, accesses: int, labels: Mapping[int, str]) -> GroupBlock:
    listed, rest = group.contexts[:SHOWN_CONTEXTS], group.contexts[SHOWN_CONTEXTS:]
    left = (sum(member.accesses for member in rest) + group.others.accesses) / accesses
    more = len(rest) + len(group.others.ids)
    return GroupBlock(
        number=index,
        reason=f"{group.reason}; affinity within the group: {number(group.weight)} pairs of"
        " accesses",
        coverage=share(group.coverage),
        count=group.size,
        contexts=[_line(member, labels[member.context], accesses) for member in listed],
        more=f"and {more} more contexts with {share(left)} of the accesses" if more else "",
    )


def _line(member: Member, label: str, accesses: int) -> ContextLine:
    sizes = [str(size) for size, _ in member.sizes[:SHOWN_SIZES]]
    return ContextLine(
        label=label,
        share=share(member.accesses / accesses),
        allocations=number(member.allocations),
        sizes=", ".join(sizes) + (", …" if len(member.sizes) > SHOWN_SIZES else ""),
        stack=member.stack,
    )
