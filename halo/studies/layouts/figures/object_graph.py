"""`object-graph`: a small access graph of objects, coloured by community (Miucin, figure 3.3)."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import networkx
import numpy as np

from halo.base.errors import BadInput
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.style import canvas, footnote, group_colour, save

MAX_OBJECTS = 500
SIDE = 6.4
"""Inches."""
THINNEST, THICKEST = 0.3, 4.0
EDGE = "#B8B8B8"
SEED = 1
"""Of the arrangement, which is the same each time."""


class ObjectGraphFigure:
    name = "object-graph"
    summary = (
        "a small access graph of objects, coloured by community, from halo study layout --graph"
    )
    endings = IMAGES
    accepts = ()

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        if len(paths) != 1:
            raise BadInput("The figure object-graph is of one graph; give one GraphML file.")
        return draw_objects(read_objects(paths[0]), ending)


def read_objects(path: Path) -> networkx.Graph:
    """The graph of `halo study layout --graph FILE.graphml`."""
    try:
        graph = networkx.read_graphml(path, node_type=int)
        sound = all("community" in data for _, data in graph.nodes(data=True)) and len(graph) > 0
    except (OSError, ValueError, SyntaxError, networkx.NetworkXError) as error:
        raise BadInput(f"{path} cannot be read as GraphML: {error}.") from error
    if not sound:
        raise BadInput(
            f"{path} is not a graph of objects; write one with: halo study layout --graph"
        )
    if len(graph) > MAX_OBJECTS:
        raise BadInput(
            f"{path} has {len(graph):,} objects, and the figure shows at most {MAX_OBJECTS};"
            " trace a smaller input."
        )
    return graph


def draw_objects(graph: networkx.Graph, ending: str) -> bytes:
    """The content of the figure: objects as points, their edges as lines by weight."""
    places = networkx.spring_layout(graph, weight="weight", seed=SEED)
    sizes = Counter(community for _, community in graph.nodes(data="community"))
    largest_first = sorted(sizes, key=lambda community: (-sizes[community], community))
    colour_of = {one: at for at, one in enumerate(largest_first)}
    heaviest = max((weight for *_, weight in graph.edges(data="weight")), default=1)
    with canvas(SIDE, SIDE + 0.5) as drawing:
        axes = drawing.add_subplot()
        axes.set_aspect("equal")
        axes.set_axis_off()
        for one, other, weight in graph.edges(data="weight"):
            ends = np.array([places[one], places[other]])
            width = THINNEST + (THICKEST - THINNEST) * weight / heaviest
            axes.plot(ends[:, 0], ends[:, 1], color=EDGE, linewidth=width, zorder=1)
        points = np.array([places[node] for node in graph])
        colours = [group_colour(colour_of[data["community"]]) for _, data in graph.nodes(data=True)]
        axes.scatter(points[:, 0], points[:, 1], s=26, c=colours, linewidths=0, zorder=2)
        note = (
            f"{len(graph):,} objects in {len(sizes):,} communities of the finest level, by"
            " colours that repeat. Width of a line: how often one object was used after the other."
        )
        footnote(drawing, textwrap.fill(note, int(SIDE * 16)))
        return save(drawing, ending)
