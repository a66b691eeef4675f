"""How contenders on aged heaps look: the same in every panel, told apart also without colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from halo.figures.aged_heaps import Heaps, contenders_of
from halo.figures.style import COLOURS, INK
from halo.results.aged_metrics import own_allocator

MARKERS = "osD^v*>"
LINES = ("-", "--", ":")


@dataclass(frozen=True)
class Look:
    """A contender's colour, marker and line, as matplotlib names them."""

    colour: str
    marker: str
    line: str


def looks_of(all_heaps: Sequence[Heaps]) -> Mapping[str, Look]:
    """By label: programs' own allocators are black, the others different for the first 18."""
    own = {own_allocator(heaps.aged) for heaps in all_heaps}
    found: dict[str, Look] = {}
    coloured = 0
    for number, label in enumerate(contenders_of(all_heaps)):
        marker = MARKERS[number % len(MARKERS)]
        if label in own:
            found[label] = Look(INK, marker, "-")
            continue
        line = LINES[coloured // len(COLOURS) % len(LINES)]
        found[label] = Look(COLOURS[coloured % len(COLOURS)], marker, line)
        coloured += 1
    return found
