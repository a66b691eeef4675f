"""HALO's groups, and a separate pool for each hot context that HALO does not group.

Figure 6 of HALO leaves a context without affinity to others ungrouped, however hot it is. In a
separate pool its objects are dense and can be aligned by size, unlike in the general heap.
"""

from __future__ import annotations

from dataclasses import dataclass

from halo.plan.options import option
from halo.plan.strategies import halo
from halo.plan.strategies.base import ProposedGroup, Strategy, StrategyInput


@dataclass(frozen=True)
class Options(halo.Options):
    min_share: float = option(
        0.005, "minimum share of all accesses of a context with its own group", 0, 1
    )


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """The groups of `halo`, then groups of one context each, hottest first."""
    groups = halo.group(subject, options)
    grouped = {context for candidate in groups for context in candidate.contexts}
    graph = subject.graph(options.coverage)
    minimum = options.min_share * graph.total_accesses
    singles = [
        ProposedGroup([context], "hot, and alone")
        for context, accesses in zip(graph.nodes, graph.accesses, strict=True)
        if context not in grouped and accesses >= minimum
    ]
    return groups + singles


STRATEGY = Strategy(
    "halo-hot",
    "as halo, and a group for each hot context that halo leaves ungrouped",
    Options,
    group,
)
