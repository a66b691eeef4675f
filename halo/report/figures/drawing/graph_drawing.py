"""Draws the affinity graph: contexts on a circle, coloured by group, edges by weight."""

from __future__ import annotations

import textwrap
from math import cos, degrees, pi, sin

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Curve

from halo.record.profile.site_labels import ARROW
from halo.report.figures.drawing.arrangement import CirclePlace, arrange, bend, thickness
from halo.report.figures.drawing.style import INK, canvas, footnote, group_colour, save, text_on
from halo.report.results.graph import Graph, Node

LONGEST_LINE = 34
LETTER = 0.064
"""Mean width in inches of a label's letter."""
SPACING = 0.29
"""Inches between two contexts on the circle."""
SMALLEST_RADIUS = 1.5
THINNEST, THICKEST = 0.4, 8.0
THICKEST_RING = 5.0
BETWEEN_GROUPS = "#B8B8B8"
KEY = (
    "Number and colour: the group; grey: in none. Area of a context: its accesses; its ring:"
    " affinity to itself; width of a line: affinity."
)


def draw_graph(graph: Graph, ending: str) -> bytes:
    """The graph as the content of an image file."""
    places = arrange(graph)
    labels = {node.context: _lines(node.label) for node in graph.nodes}
    radius = max(SMALLEST_RADIUS, SPACING * 1.15 * len(graph.nodes) / (2 * pi))
    margin = 0.3 + LETTER * max(len(line) for text in labels.values() for line in text.splitlines())
    half = radius + margin
    with canvas(2 * half, 2 * half + 0.9) as drawing:
        axes = drawing.add_subplot()
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_xlim(-half / radius, half / radius)
        axes.set_ylim(-half / radius, half / radius)
        groups = {node.context: node.group for node in graph.nodes}
        for one, other, weight in reversed(graph.edges):
            same = groups[one] == groups[other]
            colour = group_colour(groups[one]) if same else BETWEEN_GROUPS
            width = max(THINNEST, thickness(weight, graph, THICKEST))
            axes.add_patch(_curve(places[one], places[other], colour, width))
        biggest = max(node.share for node in graph.nodes) or 1.0
        for node in graph.nodes:
            size = 70 + 190 * node.share / biggest
            ring = thickness(node.loop, graph, THICKEST_RING)
            _draw_node(axes, node, places[node.context], size, ring)
            _draw_label(axes, labels[node.context], places[node.context], 1 + 0.16 / radius)
        drawing.suptitle(f"Affinity graph of {graph.program}", fontsize=11, x=0.01, ha="left")
        footnote(
            drawing,
            textwrap.fill(f"{graph.note[0].upper()}{graph.note[1:]}. {KEY}", int(half * 2 * 16)),
        )
        return save(drawing, ending)


def _lines(label: str) -> str:
    """The label with each call site on a line."""
    sites = label.replace(ARROW, f"\n{ARROW.strip()} ").splitlines()
    return "\n".join(s if len(s) <= LONGEST_LINE else f"{s[: LONGEST_LINE - 1]}…" for s in sites)


def _curve(one: CirclePlace, other: CirclePlace, colour: str, width: float) -> PathPatch:
    points = [(one.x, one.y), bend(one, other), (other.x, other.y)]
    path = Curve(points, [Curve.MOVETO, Curve.CURVE3, Curve.CURVE3])
    return PathPatch(path, fill=False, edgecolor=colour, linewidth=width, alpha=0.6, zorder=1)


def _draw_node(axes: Axes, node: Node, place: CirclePlace, size: float, ring: float) -> None:
    axes.scatter(
        [place.x],
        [place.y],
        s=size,
        color=group_colour(node.group),
        edgecolor=INK,
        linewidth=max(0.4, ring),
        zorder=3,
    )
    if node.group is not None:
        axes.text(
            place.x,
            place.y,
            str(node.group),
            ha="center",
            va="center_baseline",
            fontsize=6.5,
            color=text_on(group_colour(node.group)),
            fontweight="bold",
            zorder=4,
        )


def _draw_label(axes: Axes, text: str, place: CirclePlace, distance: float) -> None:
    left = cos(place.angle) < 0
    axes.text(
        distance * cos(place.angle),
        distance * sin(place.angle),
        text,
        rotation=degrees(place.angle) + (180 if left else 0),
        rotation_mode="anchor",
        ha="right" if left else "left",
        va="center",
        fontsize=7.5,
        linespacing=0.95,
        color=INK,
    )
