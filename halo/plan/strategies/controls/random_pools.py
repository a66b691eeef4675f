"""Each small object in a random pool: a control that measures whether placement matters at all.

HALO, section 5.2, figure 15.
"""

from __future__ import annotations

from dataclasses import dataclass

from halo.plan.options import option
from halo.plan.strategies.base import ProposedGroup, Strategy, StrategyInput


@dataclass(frozen=True)
class Options:
    pools: int = option(4, "number of pools (HALO, figure 15: four)", 1, 4096)


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """`pools` groups without contexts; no group if no context may be grouped."""
    if not subject.eligible():
        return []
    return [ProposedGroup((), f"one of {options.pools} pools, drawn at random")] * options.pools


STRATEGY = Strategy(
    "random-pools", "each small object in a randomly chosen pool", Options, group, at_random=True
)
