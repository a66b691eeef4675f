"""Contexts that are used together and make objects of one size.

In a pool of one size every freed place fits the next object, so that a long-used pool stays as
dense as a fresh one; affinity keeps apart what is not used together.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from halo.plan.options import option
from halo.profile import AffinityGraph
from halo.strategies.base import Candidate, Strategy, Subject

_GRANULE = 8
_MIXED = 0


@dataclass(frozen=True)
class Options:
    coverage: float = option(0.9, "share of all accesses to be covered", 0, 1)
    link: float = option(
        0.05, "least weight of an edge, as a share of its less accessed end's accesses", 0
    )
    main_size: float = option(
        0.9, "share of a context's objects that must be of one size; else it counts as mixed", 0, 1
    )


def group(subject: Subject, options: Options) -> list[Candidate]:
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
        Candidate(
            contexts,
            f"used together, {f'objects of up to {size} bytes' if size else 'of several sizes'}",
        )
        for (_, size), contexts in ranked
    ]


def _main_size(subject: Subject, context: int, share: float) -> int:
    """The size, rounded up to 8 bytes, of most of a context's objects; 0 if there is none."""
    item = subject.profile.contexts[context]
    counts: defaultdict[int, int] = defaultdict(int)
    for size, count in item.sizes:
        counts[-(-size // _GRANULE) * _GRANULE] += count
    size, count = max(counts.items(), key=lambda pair: pair[1], default=(_MIXED, 0))
    return size if count >= share * item.allocations else _MIXED


def _components(graph: AffinityGraph, link: float) -> dict[int, int]:
    """A representative for each context: the same one for contexts joined by strong edges."""
    accesses = dict(zip(graph.nodes, graph.accesses, strict=True))
    parent = {node: node for node in graph.nodes}

    def find(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for a, b, weight in graph.edges:
        if a != b and weight >= link * min(accesses[a], accesses[b]):
            one, other = sorted((find(a), find(b)))
            parent[other] = one
    return {node: find(node) for node in graph.nodes}


STRATEGY = Strategy("size-affinity", "contexts used together, split by object size", Options, group)
