"""Colours and markers of configurations on aged heaps, distinct also in black and white."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from halo.report.figures.aged.heaps import Heaps, configs_of
from halo.report.figures.drawing.style import COLOURS, INK
from halo.report.results.aged_metrics import own_allocator

MARKERS = "osD^v*>"
LINES = ("-", "--", ":")


@dataclass(frozen=True)
class Look:
    """A configuration's colour, marker and line, as matplotlib names them."""

    colour: str
    marker: str
    line: str


def looks_of(all_heaps: Sequence[Heaps]) -> Mapping[str, Look]:
    """Looks by label: programs' own allocators are black, the first 18 others all different."""
    own = {own_allocator(heaps.aged) for heaps in all_heaps}
    found: dict[str, Look] = {}
    coloured = 0
    for number, label in enumerate(configs_of(all_heaps)):
        marker = MARKERS[number % len(MARKERS)]
        if label in own:
            found[label] = Look(INK, marker, "-")
            continue
        line = LINES[coloured // len(COLOURS) % len(LINES)]
        found[label] = Look(COLOURS[coloured % len(COLOURS)], marker, line)
        coloured += 1
    return found
