"""HALO's grouping exactly as published (CGO 2020, section 4.2, figures 6, 7 and 8).

The paper leaves a few cases undefined. Here, smaller context ids win ties; grouping ends when no
edge is left between available nodes; `graph.accesses` counts all recorded accesses; and the score
of a single node without a loop, 0 / 0 in figure 7, is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halo.plan.options import option
from halo.plan.strategies.base import ProposedGroup, Strategy, StrategyInput
from halo.record.profile import AffinityGraph

_NO_LIMIT = 0


@dataclass(frozen=True)
class Options:
    coverage: float = option(
        0.9, "share of all accesses that the groups cover (HALO, section 4.1)", 0, 1
    )
    min_weight: int = option(1, "minimum weight of an edge (HALO, figure 6)", 0)
    merge_tol: float = option(0.05, "slack in the benefit of a merge (HALO, figure 8: T)", 0, 1)
    max_group_members: int = option(
        _NO_LIMIT, "maximum number of contexts of a group; 0: no limit", 0
    )
    gthresh: float = option(0.001, "minimum weight of a group, as a share of all accesses", 0)


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """The groups of HALO, figure 6, strongest seed edge first."""
    groups = group_graph(subject.graph(options.coverage), options)
    return [ProposedGroup(sorted(members), "affinity (HALO, figure 6)") for members in groups]


def group_graph(graph: AffinityGraph, options: Options) -> list[list[int]]:
    """HALO, figure 6: the context ids of each group, in the order in which they joined it."""
    accesses = dict(zip(graph.nodes, graph.accesses, strict=True))
    pool = NodePool(graph, options)
    groups = []
    for a, b, _ in sorted(pool.edges, key=lambda edge: (-edge[2], edge[0], edge[1])):
        if not (pool.is_available(a) and pool.is_available(b)):
            continue
        hottest = a if accesses[a] >= accesses[b] else b
        members, weight = pool.grow(hottest)
        if weight >= graph.total_accesses * options.gthresh:
            groups.append(members)
    return groups


class NodePool:
    """The available nodes, with sums that let one step of `grow` run in linear time.

    All arrays have shape (nodes,), indexed by position in ascending order of context ids.
    """

    def __init__(self, graph: AffinityGraph, options: Options) -> None:
        self.options = options
        self.nodes = sorted(graph.nodes)
        self.at = {node: index for index, node in enumerate(self.nodes)}
        self.edges = [edge for edge in graph.edges if edge[2] >= options.min_weight]
        self.available = np.ones(len(self.nodes), dtype=np.bool_)
        self.loop_weight = np.zeros(len(self.nodes), dtype=np.int64)
        self.neighbours: list[list[tuple[int, int]]] = [[] for _ in self.nodes]
        for a, b, weight in self.edges:
            x, y = self.at[a], self.at[b]
            if x == y:
                self.loop_weight[x] += weight
            else:
                self.neighbours[x].append((y, weight))
                self.neighbours[y].append((x, weight))
        self.has_loop = (self.loop_weight > 0).astype(np.int64)
        # A single node's score is its loop's weight over one loop; without a loop it is 0.
        self.own_score = self.loop_weight.astype(np.float64)

    def is_available(self, node: int) -> bool:
        return bool(self.available[self.at[node]])

    def grow(self, seed: int) -> tuple[list[int], int]:
        """Removes a group grown from `seed` from the pool; returns its members and its weight."""
        links = np.zeros(len(self.nodes), dtype=np.int64)
        members: list[int] = []
        weight = loops = 0
        joining: int | None = self.at[seed]
        while joining is not None:
            weight += int(links[joining] + self.loop_weight[joining])
            loops += int(self.has_loop[joining])
            members.append(self.nodes[joining])
            self.available[joining] = False
            for other, link in self.neighbours[joining]:
                links[other] += link
            limit = self.options.max_group_members
            full = limit != _NO_LIMIT and len(members) >= limit
            joining = None if full else self._best_match(links, weight, loops, len(members))
        return members, weight

    def _best_match(
        self, links: NDArray[np.int64], weight: int, loops: int, size: int
    ) -> int | None:
        """The available node with the largest positive merge benefit (figure 8), or None.

        `links` has shape (nodes,): the edge weight from the group to each node.
        """
        candidates = np.flatnonzero(self.available)
        if not candidates.size:
            return None
        joint = weight + links[candidates] + self.loop_weight[candidates]
        score = joint / (loops + self.has_loop[candidates] + (size + 1) * size // 2)
        here = density(weight, loops, size)
        apart = np.maximum(here, self.own_score[candidates])
        benefit = score - (1 - self.options.merge_tol) * apart
        best = int(np.argmax(benefit))
        return int(candidates[best]) if benefit[best] > 0 else None


def density(weight: int, loops: int, nodes: int) -> float:
    """Figure 7: total edge weight over loops present plus pairs possible; 0 where both are 0."""
    places = loops + nodes * (nodes - 1) // 2
    return weight / places if places else 0.0


STRATEGY = Strategy("halo", "affinity groups of the HALO paper", Options, group)
