"""The affinity graph on the page: numbered contexts on a circle, and a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halo.report.figures.drawing.arrangement import arrange, bend, ordered, thickness
from halo.report.figures.drawing.style import GREY, group_colour
from halo.report.numbers import share
from halo.report.results.graph import Graph, Node

RADIUS = 160.0
HALF = 190
"""The distance from the drawing's centre to its edge."""
THINNEST, THICKEST, THICKEST_RING = 0.6, 9.0, 6.0


@dataclass(frozen=True)
class Dot:
    """A context in the drawing, and its line in the list below."""

    number: int
    x: float
    y: float
    colour: str
    ring: float
    label: str
    share: str
    group: str


@dataclass(frozen=True)
class Line:
    """An edge in the drawing."""

    path: str
    colour: str
    width: float


@dataclass(frozen=True)
class Picture:
    """The drawing; `note` names the plan of the colours."""

    dots: Sequence[Dot]
    lines: Sequence[Line]
    note: str
    half: int = HALF


def picture(graph: Graph) -> Picture:
    """The drawing of a graph; numbers run clockwise from the top."""
    places = arrange(graph)
    groups = {node.context: node.group for node in graph.nodes}
    lines = []
    for one, other, weight in reversed(graph.edges):
        start, end = places[one], places[other]
        x, y = bend(start, end)
        same = groups[one] == groups[other] and groups[one] is not None
        lines.append(
            Line(
                path=f"M{_point(start.x, start.y)} Q{_point(x, y)} {_point(end.x, end.y)}",
                colour=group_colour(groups[one]) if same else GREY,
                width=round(max(THINNEST, thickness(weight, graph, THICKEST)), 2),
            )
        )
    dots = [
        _dot(graph, node, number, places[node.context].x, places[node.context].y)
        for number, node in enumerate(ordered(graph), 1)
    ]
    return Picture(dots, lines, f"{graph.note[0].upper()}{graph.note[1:]}.")


def _dot(graph: Graph, node: Node, number: int, x: float, y: float) -> Dot:
    return Dot(
        number=number,
        x=round(RADIUS * x, 1),
        y=round(-RADIUS * y, 1),
        colour=group_colour(node.group),
        ring=round(1 + thickness(node.loop, graph, THICKEST_RING), 2),
        label=node.label,
        share=share(node.share),
        group="none" if node.group is None else str(node.group),
    )


def _point(x: float, y: float) -> str:
    return f"{RADIUS * x:.1f},{-RADIUS * y:.1f}"
