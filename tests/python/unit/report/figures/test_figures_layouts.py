"""Figures of `halo study layout`: misses by order and level, and a graph of objects."""

from __future__ import annotations

import json
from pathlib import Path

import networkx
import pytest

from halo.base.errors import BadInput
from halo.report.figures.base import FigureOptions
from halo.report.figures.registry import find_figure
from halo.studies.layouts.figures.object_graph import MAX_OBJECTS
from support.samples.layouts import layout_result, replayed_layout
from support.svg import words


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    return layout_result(
        tmp_path / "mesh.json",
        replayed_layout("as-recorded", "recorded", L1D=200, DTLB=0),
        replayed_layout("hml", "dense", L1D=1, DTLB=1),
        replayed_layout("hml", "reuse", L1D=50, DTLB=0),
        replayed_layout("random", "reuse", L1D=300, DTLB=7),
    )


def make(paths: list[Path], ending: str, *orders: str) -> str:
    return find_figure("orders").make(paths, FigureOptions(configs=orders), ending).decode()


def test_misses_are_relative_to_the_recorded_layout(mesh: Path) -> None:
    assert "| mesh | hml | 0.25 | 0.00 |" in make([mesh], "md")
    records = json.loads(make([mesh], "json", "random", "hml"))
    assert [one["order"] for one in records] == ["random", "hml"]
    assert records[0]["misses"] == {"L1D": 1.5, "DTLB": 7.0}


def test_programs_and_levels_are_named(mesh: Path) -> None:
    drawn = words(make([mesh], "svg").encode())
    for word in ("mesh", "L1D", "DTLB", "hml", "recorded layout"):
        assert word in drawn


def test_results_that_do_not_fit_are_refused(mesh: Path, tmp_path: Path) -> None:
    other = layout_result(tmp_path / "b.json", replayed_layout("as-recorded", "recorded", L1D=200))
    empty = layout_result(tmp_path / "c.json")
    for paths, orders, message in (
        ([mesh, other], (), "different simulated machines"),
        ([empty], (), "no replays"),
        ([mesh], ("best",), "no order best; it has hml, random"),
    ):
        with pytest.raises(BadInput, match=message):
            make(paths, "svg", *orders)


def object_graph(path: Path, objects: int) -> Path:
    graph = networkx.cycle_graph(objects)
    networkx.set_edge_attributes(graph, 3, "weight")
    networkx.set_node_attributes(graph, {node: node // 4 for node in graph}, "community")
    networkx.write_graphml(graph, path)
    return path


def test_objects_are_drawn_by_community(tmp_path: Path) -> None:
    path = object_graph(tmp_path / "a.graphml", 12)
    drawn = words(find_figure("object-graph").make([path], FigureOptions(), "svg"))
    assert "12 objects in 3 communities" in drawn


def test_another_graph_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("nothing")
    plain = tmp_path / "plain.graphml"
    networkx.write_graphml(networkx.path_graph(3), plain)
    large = object_graph(tmp_path / "large.graphml", MAX_OBJECTS + 1)
    for paths, message in (
        ([text], "cannot be read as GraphML"),
        ([plain], "not a graph of objects"),
        ([large], "at most 500"),
        ([large, large], "one graph"),
    ):
        with pytest.raises(BadInput, match=message):
            find_figure("object-graph").make(paths, FigureOptions(), "svg")
