"""`halo study layout --order`: the records of an input file in the order of a layout."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from bench.studies import reordering
from support.command import BUILD, halo
from support.samples.node_files import SIDE, distance, nodes

GRAPH = str(BUILD / "bench" / "graph")


def run(path: Path, *arguments: str) -> str:
    done = subprocess.run([GRAPH, str(path), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_neighbours_come_close_in_a_file_in_the_order_of_the_layout(tmp_path: Path) -> None:
    by_id, by_layout, order = (tmp_path / name for name in ("by-id", "by-layout", "order"))
    lines = nodes()
    by_id.write_text("\n".join([*lines, ""]))
    options = ["--quick", "--order", str(order), "-o", str(tmp_path / "graph.objects")]
    outcome = halo("study", "layout", *options, "--", GRAPH, str(by_id), "bfs", "3", "1")
    assert outcome.status in {0, 1}, outcome.stderr
    assert re.search(rf"\n\d+ +{SIDE * SIDE:,}  std::make_unique", outcome.stdout)
    assert "malloc" not in outcome.stdout, "only one packing"
    assert order.read_text().splitlines()[0] == "context ordinal size"
    reordered = [lines[at] for at in reordering.nodes_of(order, len(lines))]
    assert sorted(reordered) == sorted(lines)
    assert distance(reordered) < distance(lines) / 5
    by_layout.write_text("\n".join([*reordered, ""]))
    for traversal in ("bfs", "dfs"):
        assert run(by_id, traversal, "2", "7") == run(by_layout, traversal, "2", "7")


def test_contexts_of_a_stored_trace_have_no_names(tmp_path: Path) -> None:
    path, trace, order = (tmp_path / name for name in ("nodes", "graph.objects", "order"))
    path.write_text("\n".join([*nodes(), ""]))
    made = halo(
        "study", "layout", "--quick", "-o", str(trace), "--", GRAPH, str(path), "bfs", "1", "1"
    )
    assert "Contexts" not in made.stdout
    outcome = halo("study", "layout", "--quick", "--order", str(order), str(trace))
    assert outcome.status in {0, 1}, outcome.stderr
    found = outcome.stdout.partition("Contexts in")[2]
    assert re.search(rf"\n\d+ +{SIDE * SIDE:,} *\n", found)
    assert "make_unique" not in found


def test_a_file_without_a_graph_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "graph"
    for text in ("0 1\n", "0 x\n", "0", "1\n", "0 7\n1\n", "0\n0\n"):
        path.write_text(text)
        done = subprocess.run([GRAPH, str(path), "bfs", "1", "1"], capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, text
