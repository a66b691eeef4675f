"""All hot contexts in one pool: a control that separates the effect of grouping from pooling."""

from __future__ import annotations

from dataclasses import dataclass

from halo.plan.options import option
from halo.plan.strategies.base import ProposedGroup, Strategy, StrategyInput


@dataclass(frozen=True)
class Options:
    coverage: float = option(
        0.9, "share of all accesses that the group covers (HALO, section 4.1)", 0, 1
    )


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """One group of the contexts that account for `coverage` of all accesses."""
    nodes = subject.graph(options.coverage).nodes
    return [ProposedGroup(nodes, f"hottest contexts, {options.coverage:.0%} of all accesses")]


STRATEGY = Strategy("one-pool", "all hot contexts share one group", Options, group)
