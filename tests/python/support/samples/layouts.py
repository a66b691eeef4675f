"""Small results of `halo study layout`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from halo.studies.layouts.document import (
    AccessGraphSize,
    LayoutDocument,
    MissPlaces,
    Replayed,
    ReplayedLayout,
)


def replayed_layout(order: str, packing: str, cycles: int = 10, **misses: int) -> ReplayedLayout:
    return ReplayedLayout(order=order, packing=packing, accesses=100, cycles=cycles, misses=misses)


def replayed(
    *layouts: ReplayedLayout,
    min_lines: int = 3,
    communities: tuple[int, ...] = (1,),
    miss_places: MissPlaces | None = None,
) -> Replayed:
    return Replayed(
        complete=True,
        phase=False,
        window=1,
        objects=3,
        accessed_objects=3,
        accesses=100,
        min_lines=min_lines,
        accesses_to_objects=90,
        graph=AccessGraphSize(edges=2, hubs=0, pairs=80, dropped=0),
        communities=communities,
        replays=layouts,
        miss_places=miss_places,
    )


def layout_result(path: Path, *layouts: ReplayedLayout) -> Path:
    document = LayoutDocument(
        program="/usr/bin/prog",
        arguments=(),
        phase="",
        replayed=replayed(*layouts),
        usual="as-recorded",
        best="hml",
        gain=0.5,
    )
    path.write_bytes(msgspec.json.encode(document))
    return path
