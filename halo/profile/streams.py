"""Hot data streams as a recording leaves them: sets of call sites worth co-allocating."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

_Site = TypeVar("_Site")


@dataclass(frozen=True)
class CoAllocationSet:
    """Call sites whose objects occur in streams together (Chilimbi and Shaham 2006).

    `streams` of them have exactly these `sites`, frame ids; `heat` is how many references lie in
    their occurrences, `saved` how many cache lines these would touch less if the sites shared a
    pool.
    """

    sites: tuple[int, ...]
    streams: int
    heat: int
    saved: int


@dataclass(frozen=True)
class HotStreams:
    """What was found in a trace of `references`, of which `covered` lie in hot data streams.

    `dropped` more came behind the longest trace that was to be kept; `symbols` is the length of the
    grammar that it was kept as; `threshold` is the heat from which on a string is hot.
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


def streams_json(found: HotStreams) -> dict[str, Any]:
    """The JSON document of hot streams, keys as in docs/profile-format.md."""
    counts: dict[str, Any] = {key: getattr(found, key) for key in COUNTS}
    return counts | {
        "sets": [
            {"sites": item.sites, **{key: getattr(item, key) for key in SET_COUNTS}}
            for item in found.sets
        ]
    }


class StreamsMerger(Generic[_Site]):
    """Adds up the hot streams of several processes; sites are named by what both have."""

    def __init__(self) -> None:
        self._parts: list[HotStreams] = []
        self._sets: dict[frozenset[_Site], list[int]] = {}

    def add(self, found: HotStreams, sites: Sequence[_Site]) -> None:
        """Takes in a part's streams; `sites` are by frame id."""
        self._parts.append(found)
        for item in found.sets:
            sums = self._sets.setdefault(frozenset(sites[at] for at in item.sites), [0, 0, 0])
            for at, count in enumerate((item.streams, item.heat, item.saved)):
                sums[at] += count

    def numbered(self, frame_ids: Mapping[_Site, int]) -> HotStreams | None:
        """All parts' streams, those that save most first; None where no part has any.

        Counts are added up; the threshold is the greatest.
        """
        if not self._parts:
            return None
        sets = [
            CoAllocationSet(tuple(sorted(frame_ids[site] for site in sites)), *sums)
            for sites, sums in self._sets.items()
        ]
        totals = {key: sum(getattr(part, key) for part in self._parts) for key in COUNTS}
        totals["threshold"] = max(part.threshold for part in self._parts)
        ranked = sorted(sets, key=lambda item: (-item.saved, item.sites))
        return HotStreams(**totals, sets=tuple(ranked))
