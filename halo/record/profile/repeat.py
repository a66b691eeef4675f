"""A profile as if its run had been repeated, so that inputs of unlike length weigh alike."""

from __future__ import annotations

from dataclasses import replace

from halo.record.profile.model import Context, Profile, Totals
from halo.record.profile.sections.registry import SECTIONS


def repeated(profile: Profile, times: int) -> Profile:
    """The profile of that many runs one after the other, as `merge_profiles` would add them up.

    Counts of events and weights are multiplied; sizes, peaks and the recorder's cost stay.
    """
    if times == 1:
        return profile
    return replace(
        profile,
        contexts=tuple(_context(context, times) for context in profile.contexts),
        edges=tuple((a, b, times * weight) for a, b, weight in profile.edges),
        totals=_totals(profile.totals, times),
        sections={
            section.key: section.repeated(value, times)
            for section in SECTIONS
            if (value := section.of(profile)) is not None
        },
    )


def _context(context: Context, times: int) -> Context:
    return replace(
        context,
        allocations=times * context.allocations,
        frees=times * context.frees,
        bytes=times * context.bytes,
        sizes=tuple((size, times * count) for size, count in context.sizes),
        accesses=times * context.accesses,
    )


def _totals(totals: Totals, times: int) -> Totals:
    return replace(
        totals,
        allocations=times * totals.allocations,
        frees=times * totals.frees,
        accesses=times * totals.accesses,
        machine_accesses=times * totals.machine_accesses,
        untracked=times * totals.untracked,
    )
