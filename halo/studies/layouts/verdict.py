"""How much an order of objects could save, which one, and what rules orders out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from halo.studies.layouts.document import MissPlaces, Replayed, ReplayedLayout

AS_RECORDED = "as-recorded"
USUAL = (AS_RECORDED, "allocation-order", "first-touch")
"""Orders that allocators produce without knowledge of the accesses."""
PACKING = "reuse"
MIN_GAIN = 0.05
MOST = 0.5
"""Share of the misses of the first cache above which arrays or large objects have most of them."""


class Answer(Enum):
    """The closed set of verdicts, in the order in which they are tried."""

    REORDER = "an order helps"
    ARRAYS = "array elements cannot be moved"
    SPLIT = "split first"
    NONE = "no order helps"


@dataclass(frozen=True)
class Verdict:
    """The best usual layout, the best of all others, and the share of modelled cycles between.

    `places` says which objects miss; None if that is not known (Miucin, section 3.5.4).
    """

    usual: ReplayedLayout
    best: ReplayedLayout
    places: MissPlaces | None = None

    @property
    def gain(self) -> float:
        return 1 - self.best.cycles / self.usual.cycles if self.usual.cycles else 0.0

    @property
    def helps(self) -> bool:
        return self.gain >= MIN_GAIN

    @property
    def answer(self) -> Answer:
        if self.helps:
            return Answer.REORDER
        if self.places is not None and self.places.arrays > MOST * self.places.misses:
            return Answer.ARRAYS
        if self.places is not None and self.places.large > MOST * self.places.misses:
            return Answer.SPLIT
        return Answer.NONE

    @property
    def sentence(self) -> str:
        """What an order saves, and if it is little, what the misses are to."""
        if self.helps:
            return (
                f"The order {self.best.order} would save {self.gain:.0%} of the modelled cycles of"
                f" misses, compared with {self.usual.order}."
            )
        most = max(self.gain, 0.0)
        none = (
            f"None of these orders would save more than {most:.1%} of the modelled cycles of"
            f" misses, compared with {self.usual.order}; the best is {self.best.order}."
        )
        reason = _reason(self.answer, self.places)
        return f"{none} {reason}" if reason else none


def judge(replayed: Replayed) -> Verdict:
    """Compares layouts of equal packing, and the recorded one.

    Objects without headers have fewer misses in any order than those of an allocator with headers,
    so orders are compared with the same advantage, and with reuse of memory, as recorded.
    """
    packed = [one for one in replayed.replays if one.packing in (PACKING, "recorded")]
    usual = [one for one in packed if one.order in USUAL]
    others = [one for one in packed if one.order not in USUAL]
    return Verdict(min(usual, key=_cost), min(others, key=_cost), replayed.miss_places)


def _reason(answer: Answer, places: MissPlaces | None) -> str:
    """Which objects keep orders from helping, in sentences; empty if none do."""
    if places is None:
        return ""
    if answer is Answer.ARRAYS:
        share = places.arrays / places.misses
        return f"Arrays have {share:.0%} of the first cache's misses: {answer.value}."
    if answer is Answer.SPLIT:
        share = places.large / places.misses
        unknown = "" if places.typed else " The trace has no types, so these may be arrays."
        return (
            f"Objects larger than a line have {share:.0%} of the first cache's misses:"
            f" {answer.value}, with halo study trace split.{unknown}"
        )
    return ""


def _cost(one: ReplayedLayout) -> int:
    return one.cycles
