"""Places the contexts of a graph on a circle, group by group, without overlap."""

from __future__ import annotations

from itertools import pairwise
from math import cos, hypot, pi, sin
from typing import NamedTuple

from halo.report.results.graph import Graph, Node

GAP = 0.6
"""The gap between two groups, in widths of a context."""


class CirclePlace(NamedTuple):
    """A context's angle in radians, and its point on the circle of radius 1."""

    angle: float
    x: float
    y: float


def ordered(graph: Graph) -> list[Node]:
    """The contexts group by group, the ungrouped last, each group by descending accesses."""
    last = 1 + max((node.group for node in graph.nodes if node.group is not None), default=0)
    return sorted(
        graph.nodes, key=lambda n: (last if n.group is None else n.group, -n.accesses, n.context)
    )


def arrange(graph: Graph) -> dict[int, CirclePlace]:
    """The place of each context by id, clockwise from the top."""
    nodes = ordered(graph)
    breaks = sum(one.group != other.group for one, other in pairwise(nodes))
    around = len(nodes) + GAP * (breaks + 1)
    places, at = {}, 0.0
    for number, node in enumerate(nodes):
        if number:
            at += 1 if nodes[number - 1].group == node.group else 1 + GAP
        angle = pi / 2 - 2 * pi * at / around
        places[node.context] = CirclePlace(angle, cos(angle), sin(angle))
    return places


def thickness(weight: int, graph: Graph, thickest: float) -> float:
    """The width of an edge or a ring, in proportion to its weight; `thickest` is the maximum."""
    return thickest * weight / max([w for *_, w in graph.edges] + [n.loop for n in graph.nodes])


def bend(one: CirclePlace, other: CirclePlace) -> tuple[float, float]:
    """The control point of the curve between two contexts: the farther apart, the more inwards."""
    apart = min(1.0, hypot(one.x - other.x, one.y - other.y) / 1.2)
    kept = (1 - 0.75 * apart) / 2
    return (one.x + other.x) * kept, (one.y + other.y) * kept
