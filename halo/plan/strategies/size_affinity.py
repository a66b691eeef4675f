"""Contexts that are accessed together and allocate objects of one size.

In a pool of one block size every free block fits the next object, so a pool in long use stays as
dense as a fresh one. Affinity separates contexts that are not accessed together.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from halo.plan.options import option
from halo.plan.strategies.base import ProposedGroup, Strategy, StrategyInput
from halo.record.profile import AffinityGraph

_GRANULE = 8
_MIXED = 0


@dataclass(frozen=True)
class Options:
    coverage: float = option(0.9, "share of all accesses that the groups cover", 0, 1)
    link: float = option(
        0.05, "minimum weight of an edge, as a share of the accesses to its less accessed end", 0
    )
    main_size: float = option(
        0.9, "minimum share of a context's objects of one size; below it, the sizes are mixed", 0, 1
    )


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """Connected components of the linked contexts, each split by object size; largest first."""
    graph = subject.graph(options.coverage)
    component = _components(graph, options.link)
    members: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for context in graph.nodes:
        size = _main_size(subject, context, options.main_size)
        members[component[context], size].append(context)
    accesses = dict(zip(graph.nodes, graph.accesses, strict=True))
    ranked = sorted(members.items(), key=lambda item: -sum(accesses[at] for at in item[1]))
    return [
        ProposedGroup(
            contexts,
            f"used together, {f'objects of up to {size} bytes' if size else 'of several sizes'}",
        )
        for (_, size), contexts in ranked
    ]


def _main_size(subject: StrategyInput, context: int, share: float) -> int:
    """The size in bytes, rounded up to 8, of most objects of a context; 0 if sizes are mixed."""
    item = subject.profile.contexts[context]
    counts: defaultdict[int, int] = defaultdict(int)
    for size, count in item.sizes:
        counts[-(-size // _GRANULE) * _GRANULE] += count
    size, count = max(counts.items(), key=lambda pair: pair[1], default=(_MIXED, 0))
    return size if count >= share * item.allocations else _MIXED


def _components(graph: AffinityGraph, link: float) -> dict[int, int]:
    """The minimum context id of each context's component, in which strong edges join contexts."""
    import networkx as nx  # its import takes longer than most plans

    accesses = dict(zip(graph.nodes, graph.accesses, strict=True))
    linked: nx.Graph[int] = nx.Graph()
    linked.add_nodes_from(graph.nodes)
    linked.add_edges_from(
        (a, b) for a, b, weight in graph.edges if weight >= link * min(accesses[a], accesses[b])
    )
    return {
        context: min(component)
        for component in nx.connected_components(linked)
        for context in component
    }


STRATEGY = Strategy("size-affinity", "contexts used together, split by object size", Options, group)
