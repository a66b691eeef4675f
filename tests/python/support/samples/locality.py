"""Small results of `halo study locality`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from halo.studies.pollution.locality.document import (
    ContextLocality,
    Locality,
    LocalityDocument,
    SampledObjects,
    WatchCounts,
)

LINES = 1024


def context(
    misses: int,
    accesses: int,
    objects: int = 1,
    rated: int = 1,
    variance: float = 0,
    name: str = "",
) -> ContextLocality:
    return ContextLocality(
        name=name,
        objects=objects,
        bytes=3 << 20,
        peak_bytes=2 << 20,
        accesses=accesses,
        misses=misses,
        rated=rated,
        variance=variance,
        pages=0,
        near_pages=0,
        lines_of_visit=1,
    )


def counts(samples: int = 0, false_hits: int = 0, false_misses: int = 0) -> WatchCounts:
    return WatchCounts(
        watched=5,
        skipped=0,
        hits=samples,
        misses=0,
        bursts=0,
        dropped=0,
        expired=0,
        moves=0,
        samples=samples,
        false_hits=false_hits,
        false_misses=false_misses,
    )


def locality(
    *contexts: ContextLocality,
    outside: int = 0,
    objects: tuple[int, ...] = (3, *([0] * 8), 1),
    differences: tuple[int, ...] = (97, *([0] * 98), 3),
    cache_lines: int = LINES,
) -> Locality:
    """With `outside` misses that are not to objects."""
    return Locality(
        complete=True,
        seconds=1.0,
        cache_bytes=cache_lines * 64,
        accesses=sum(one.accesses for one in contexts) + outside,
        misses=sum(one.misses for one in contexts) + outside,
        cycles=1000,
        objects=objects,
        page_differences=differences,
        pages=sum(differences),
        near_pages=sum(differences[:10]),
        sure_pages=10,
        near_sure_pages=10,
        contexts=contexts,
        sampling=(SampledObjects(objects=0, pages=0, within=0, needed=0),),
        sampled=counts(10),
        every=counts(20),
        predicted=100,
        right=90,
        polluters=30,
        known=50,
        known_right=49,
        learnt_right=80,
    )


def locality_result(path: Path, found: Locality) -> Path:
    document = LocalityDocument(
        program="/usr/bin/prog",
        arguments=(),
        machine="e7420",
        locality=found,
        pollution=0.5,
        verdict="contexts pollute",
    )
    path.write_bytes(msgspec.json.encode(document))
    return path
