"""Hot data streams in a profile: sets of call sites whose objects should share a pool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from halo.record.profile.checks import Checks
from halo.record.profile.sections.section import Part, Section


@dataclass(frozen=True)
class CoAllocationSet:
    """Call sites whose objects occur in streams together (Chilimbi and Shaham, PLDI 2006).

    `streams` streams have exactly these `sites`, which are frame ids. `heat` counts the references
    in their occurrences, `saved` the cache lines that these would not access if the sites shared a
    pool.
    """

    sites: tuple[int, ...]
    streams: int
    heat: int
    saved: int


@dataclass(frozen=True)
class HotStreams:
    """Streams of a trace of `references`, of which `covered` are in hot data streams.

    `dropped` counts references beyond the maximum length of the trace; `symbols` is the length of
    its grammar; `threshold` is the minimum heat of a hot string.
    """

    references: int
    dropped: int
    symbols: int
    threshold: int
    covered: int
    streams: int
    sets: tuple[CoAllocationSet, ...]


COUNTS = tuple(field.name for field in fields(HotStreams) if field.name != "sets")
SET_COUNTS = tuple(field.name for field in fields(CoAllocationSet) if field.name != "sites")


class HotStreamsSection(Section[HotStreams]):
    """Absent unless `halo record --hot-streams` records it."""

    key = "hot_streams"

    def read(self, checks: Checks, contexts: int, frames: int) -> HotStreams:
        raw = checks.object(self.key)
        sets = raw.get("sets")
        if not isinstance(sets, list):
            checks.bad("the sets of hot_streams are not a list")
        return HotStreams(
            **{key: checks.count(raw, key) for key in COUNTS},
            sets=tuple(_read_set(checks, item, frames) for item in sets),
        )

    def write(self, value: HotStreams) -> dict[str, Any]:
        counts: dict[str, Any] = {key: getattr(value, key) for key in COUNTS}
        return counts | {
            "sets": [
                {"sites": item.sites, **{key: getattr(item, key) for key in SET_COUNTS}}
                for item in value.sets
            ]
        }

    def combine(self, found: Sequence[tuple[Part, HotStreams]]) -> HotStreams:
        """Sums counts; the threshold is the maximum. Orders sets by descending savings."""
        sums: defaultdict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
        for part, value in found:
            for item in value.sets:
                sites = tuple(sorted({part.frames[at] for at in item.sites}))
                sums[sites].append(tuple(getattr(item, key) for key in SET_COUNTS))
        sets = [
            CoAllocationSet(sites, *map(sum, zip(*counts, strict=True)))
            for sites, counts in sums.items()
        ]
        totals = {key: sum(getattr(value, key) for _, value in found) for key in COUNTS}
        totals["threshold"] = max(value.threshold for _, value in found)
        ranked = sorted(sets, key=lambda item: (-item.saved, item.sites))
        return HotStreams(**totals, sets=tuple(ranked))

    def repeated(self, value: HotStreams, times: int) -> HotStreams:
        return replace(
            value,
            references=times * value.references,
            dropped=times * value.dropped,
            covered=times * value.covered,
            sets=tuple(
                replace(item, heat=times * item.heat, saved=times * item.saved)
                for item in value.sets
            ),
        )


HOT_STREAMS = HotStreamsSection()


def _read_set(checks: Checks, raw: Any, frames: int) -> CoAllocationSet:
    sites = raw.get("sites") if isinstance(raw, dict) else None
    if not isinstance(sites, list) or not sites:
        checks.bad("a set of hot_streams has no list of sites")
    if not all(type(site) is int and 0 <= site < frames for site in sites):
        checks.bad("a site of hot_streams is out of range")
    if len(set(sites)) < len(sites):
        checks.bad("a set of hot_streams has a site twice")
    return CoAllocationSet(tuple(sites), **{key: checks.count(raw, key) for key in SET_COUNTS})
