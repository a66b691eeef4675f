"""The section of the sweep over caches of many sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from halo.base.errors import BadProfile
from halo.base.schema.document import Damaged, convert
from halo.base.schema.simulation import CacheSweep, SweptCache
from halo.base.schema.values import Count
from halo.record.profile.checks import Checks
from halo.record.profile.sections.section import Part, Section


class RawSweep(Struct, frozen=True):
    """The sweep as a profile has it: docs/profile-format.md."""

    line: Count
    heap: Count
    outside: Count
    caches: tuple[tuple[Count, Count, Count, Count], ...]


class CacheSweepSection(Section[CacheSweep]):
    """Absent unless asked for."""

    key = "cache_sweep"
    refers_to_stacks = False

    def read(self, checks: Checks, contexts: int, frames: int) -> CacheSweep:
        try:
            raw = convert(checks.document[self.key], RawSweep, self.key)
        except Damaged as error:
            checks.bad(str(error))
        caches = tuple(SweptCache(*row) for row in raw.caches)
        if any(it.heap > raw.heap or it.outside > raw.outside for it in caches):
            checks.bad("a cache of the sweep has more misses than accesses")
        return CacheSweep(raw.line, raw.heap, raw.outside, caches)

    def write(self, value: CacheSweep) -> dict[str, Any]:
        return {
            "line": value.line,
            "heap": value.heap,
            "outside": value.outside,
            "caches": [astuple(cache) for cache in value.caches],
        }

    def combine(self, found: Sequence[tuple[Part, CacheSweep]]) -> CacheSweep:
        """Adds up the sweeps of several processes, each with caches of its own."""
        parts = [value for _, value in found]
        shapes = {
            (part.line, *((cache.bytes, cache.ways) for cache in part.caches)) for part in parts
        }
        if len(shapes) > 1:
            raise BadProfile(
                "The recordings were simulated with different caches; record them alike."
            )
        return CacheSweep(
            line=parts[0].line,
            heap=sum(part.heap for part in parts),
            outside=sum(part.outside for part in parts),
            caches=tuple(map(_sum, zip(*(part.caches for part in parts), strict=True))),
        )

    def repeated(self, value: CacheSweep, times: int) -> CacheSweep:
        return CacheSweep(
            line=value.line,
            heap=times * value.heap,
            outside=times * value.outside,
            caches=tuple(
                SweptCache(it.bytes, it.ways, times * it.heap, times * it.outside)
                for it in value.caches
            ),
        )


CACHE_SWEEP = CacheSweepSection()


def _sum(caches: Sequence[SweptCache]) -> SweptCache:
    first = caches[0]
    heap, outside = sum(it.heap for it in caches), sum(it.outside for it in caches)
    return SweptCache(first.bytes, first.ways, heap, outside)
