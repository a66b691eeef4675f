"""The affinity graph of HALO, section 4.1, over a text trace: short, slow and obvious.

Trace lines: `alloc ID CONTEXT SIZE`, `free ID`, `access THREAD ID SIZE`. Checks the fast one.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Graph:
    """Macro-level accesses by context, and weights by (context, context) with a <= b."""

    accesses: Counter[int] = field(default_factory=Counter)
    edges: Counter[tuple[int, int]] = field(default_factory=Counter)


def affinity_graph(trace: Iterable[str], distance: int) -> Graph:
    """Builds the graph of a trace for an affinity distance in bytes."""
    graph = Graph()
    allocations: list[int] = []  # the context of each allocation, in order
    place: dict[int, int] = {}  # object -> its position in `allocations`
    # thread -> (object, size), newest last
    queues: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for line in trace:
        match line.split():
            case ["alloc", name, context, _size]:
                place[int(name)] = len(allocations)
                allocations.append(int(context))
            case ["access", thread, name, size]:
                queue, u = queues[int(thread)], int(name)
                if queue and queue[-1][0] == u:
                    continue  # deduplication: still the same macro-level access
                x = allocations[place[u]]
                graph.accesses[x] += 1
                for v in in_reach(queue, distance):
                    y = allocations[place[v]]
                    # no self-affinity; co-allocatability
                    if v != u and co_allocatable(allocations, place[u], place[v]):
                        graph.edges[min(x, y), max(x, y)] += 1
                queue.append((u, int(size)))
    return graph


def in_reach(queue: list[tuple[int, int]], distance: int) -> list[int]:
    """The objects among the latest accesses that add up to less than the distance, each once."""
    objects: list[int] = []
    between = 0
    for v, size in reversed(queue):
        between += size
        if between >= distance:
            break
        if v not in objects:  # no double counting
            objects.append(v)
    return objects


def co_allocatable(allocations: list[int], u: int, v: int) -> bool:
    """No allocation chronologically between the two comes from either one's context."""
    between = allocations[min(u, v) + 1 : max(u, v)]
    return allocations[u] not in between and allocations[v] not in between


def render(graph: Graph) -> list[str]:
    """The lines that `halo-replay` prints, sorted."""
    nodes = [f"node {context} {count}" for context, count in graph.accesses.items()]
    edges = [f"edge {a} {b} {weight}" for (a, b), weight in graph.edges.items()]
    return sorted(nodes + edges)


if __name__ == "__main__":
    print("\n".join(render(affinity_graph(sys.stdin, int(sys.argv[1])))))
