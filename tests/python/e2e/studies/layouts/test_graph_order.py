"""Communities and spectral orders of small graphs against networkx and exact eigenvectors."""

from __future__ import annotations

import json
import random
import subprocess
from typing import Any

import networkx
import numpy
import pytest

from support.command import BUILD


def order_of(graph: networkx.Graph) -> dict[str, Any]:
    """What halo-graph-order prints; vertices of `graph` are 0, 1, ..."""
    edges = "".join(f"{a} {b} {weight}\n" for a, b, weight in graph.edges(data="weight", default=1))
    command = [str(BUILD / "bin" / "halo-graph-order"), str(len(graph))]
    done = subprocess.run(command, input=edges, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def weighted(graph: networkx.Graph, seed: int) -> networkx.Graph:
    """The graph with random weights of 1 to 9."""
    chance = random.Random(seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = chance.randint(1, 9)
    return networkx.convert_node_labels_to_integers(graph)


GRAPHS = {
    "club": networkx.karate_club_graph(),
    "women": networkx.convert_node_labels_to_integers(networkx.davis_southern_women_graph()),
    "families": networkx.convert_node_labels_to_integers(networkx.florentine_families_graph()),
    "novel": networkx.convert_node_labels_to_integers(networkx.les_miserables_graph()),
    "caveman": networkx.connected_caveman_graph(12, 8),
    "planted": networkx.planted_partition_graph(8, 25, 0.4, 0.02, seed=1),
    "grid": weighted(networkx.grid_2d_graph(15, 15), 1),
    "small-world": weighted(networkx.connected_watts_strogatz_graph(200, 6, 0.1, seed=1), 2),
    "tree": weighted(networkx.balanced_tree(3, 5), 3),
    "scale-free": weighted(networkx.barabasi_albert_graph(200, 3, seed=1), 4),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_modularity_is_that_of_networkx(name: str) -> None:
    graph = GRAPHS[name]
    labels = order_of(graph)["levels"][-1]
    mine = [{at for at, label in enumerate(labels) if label == one} for one in set(labels)]
    known = networkx.community.louvain_communities(graph, seed=1)
    found, expected = (networkx.community.modularity(graph, one) for one in (mine, known))
    assert found >= 0.99 * expected


@pytest.mark.parametrize("name", GRAPHS)
def test_the_fiedler_vector_is_that_of_a_dense_solver(name: str) -> None:
    graph = GRAPHS[name]
    assert networkx.is_connected(graph)
    weights = networkx.to_numpy_array(graph, range(len(graph)))
    laplacian = numpy.diag(weights.sum(axis=0)) - weights
    values, vectors = numpy.linalg.eigh(laplacian)
    found = numpy.array(order_of(graph)["fiedler"])
    assert found @ laplacian @ found <= values[1] * (1 + 1e-6)
    if values[2] < values[1] * 1.001:
        return  # any vector of the plane is one
    correlation = numpy.corrcoef(ranks(found), ranks(vectors[:, 1]))[0, 1]
    assert abs(correlation) >= 0.999


def ranks(entries: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """The rank of each entry; those that differ by rounding only have their mean rank."""
    rounded = numpy.round(entries, 7)
    below: numpy.ndarray[Any, Any] = (rounded[:, None] > rounded[None, :]).sum(axis=1)
    same: numpy.ndarray[Any, Any] = (rounded[:, None] == rounded[None, :]).sum(axis=1)
    return numpy.asarray(below + same / 2)


def test_the_order_is_that_of_the_vector() -> None:
    found = order_of(GRAPHS["small-world"])
    entries = [found["fiedler"][vertex] for vertex in found["order"]]
    assert entries in (sorted(entries), sorted(entries, reverse=True))


def test_other_text_is_refused() -> None:
    command = [str(BUILD / "bin" / "halo-graph-order"), "3"]
    for text in ("0 3 1\n", "1 1 1\n", "0 one 1\n"):
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "usage" in done.stderr
