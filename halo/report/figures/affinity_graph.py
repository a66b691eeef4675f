"""`affinity-graph`: contexts, their groups and the affinity between them (HALO, figure 9)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halo.base.errors import UsageError
from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.graph_drawing import draw_graph
from halo.report.figures.drawing.graph_files import dot, graphml
from halo.report.results import read_measurement
from halo.report.results.graph import (
    Graph,
    GraphSource,
    build_graph,
    source_of_files,
    source_of_folder,
)
from halo.report.results.reader import NAME

TOP = 60


class AffinityGraphFigure:
    name = "affinity-graph"
    summary = "contexts, groups and affinity of a results folder, or of PROFILE and PLAN (figure 9)"
    endings = (*IMAGES, "graphml", "dot")
    accepts = ("min_weight", "top")

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        everything = ending not in IMAGES
        top = TOP if options.top is options.min_weight is None and not everything else options.top
        graph = build_graph(find_source(paths), options.min_weight or 1, top)
        return write_graph(graph, ending)


def write_graph(graph: Graph, ending: str) -> bytes:
    """The graph as an image or as a file for other programs."""
    writers = {"graphml": graphml, "dot": dot}
    return writers[ending](graph) if ending in writers else draw_graph(graph, ending)


def find_source(paths: Sequence[Path]) -> GraphSource:
    """The source of the graph: a results folder or file, or a profile with a plan made from it."""
    if len(paths) > 2:
        raise UsageError(
            "The figure affinity-graph is of one program; give its results folder, or a profile"
            " and a plan."
        )
    first = paths[0]
    if first.is_dir() or first.name == NAME:
        if len(paths) > 1:
            raise UsageError(
                "The figure affinity-graph takes one results folder; or a profile and a plan."
            )
        return source_of_folder(read_measurement(first))
    return source_of_files(first, paths[1] if len(paths) > 1 else None)
