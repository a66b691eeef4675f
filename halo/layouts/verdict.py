"""How much an order of objects could save, and which one."""

from __future__ import annotations

from dataclasses import dataclass

from halo.schema.layout import Replayed, ReplayedLayout

AS_RECORDED = "as-recorded"
USUAL = (AS_RECORDED, "allocation-order", "first-touch")
"""Orders that allocators produce without knowledge of the accesses."""
PACKING = "reuse"
MIN_GAIN = 0.05


@dataclass(frozen=True)
class Verdict:
    """The best usual layout, the best of all others, and the share of modelled cycles between."""

    usual: ReplayedLayout
    best: ReplayedLayout

    @property
    def gain(self) -> float:
        return 1 - self.best.cycles / self.usual.cycles if self.usual.cycles else 0.0

    @property
    def helps(self) -> bool:
        return self.gain >= MIN_GAIN

    @property
    def sentence(self) -> str:
        if self.helps:
            return (
                f"The order {self.best.order} would save {self.gain:.0%} of the modelled cycles of"
                f" misses, compared with {self.usual.order}."
            )
        most = max(self.gain, 0.0)
        return (
            f"None of these orders would save more than {most:.1%} of the modelled cycles of"
            f" misses, compared with {self.usual.order}; the best is {self.best.order}."
        )


def judge(replayed: Replayed) -> Verdict:
    """Compares layouts of equal packing, and the recorded one.

    Objects without headers have fewer misses in any order than those of an allocator with headers,
    so orders are compared with the same advantage, and with reuse of memory, as recorded.
    """
    packed = [one for one in replayed.replays if one.packing in (PACKING, "recorded")]
    usual = [one for one in packed if one.order in USUAL]
    others = [one for one in packed if one.order not in USUAL]
    return Verdict(min(usual, key=_cost), min(others, key=_cost))


def _cost(one: ReplayedLayout) -> int:
    return one.cycles
