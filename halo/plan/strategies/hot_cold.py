"""Two pools: hot contexts and cold contexts."""

from __future__ import annotations

from dataclasses import dataclass

from halo.plan.options import option
from halo.plan.strategies.base import ProposedGroup, Strategy, StrategyInput


@dataclass(frozen=True)
class Options:
    coverage: float = option(0.9, "share of all accesses that counts as hot", 0, 1)


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """A hot group that accounts for `coverage` of all accesses, and a cold group of the rest."""
    hot = subject.graph(options.coverage).nodes
    cold = sorted(set(subject.eligible()) - set(hot))
    return [
        ProposedGroup(hot, f"hot: {options.coverage:.0%} of all accesses"),
        ProposedGroup(cold, "cold: all other small contexts"),
    ]


STRATEGY = Strategy("hot-cold", "one group of hot contexts, one of the others", Options, group)
