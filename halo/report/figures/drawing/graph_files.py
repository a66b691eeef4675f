"""Writes the affinity graph for other programs: GraphML and DOT."""

from __future__ import annotations

import io

import networkx

from halo.report.figures.drawing.style import group_colour, text_on
from halo.report.results.graph import Graph


def graphml(graph: Graph) -> bytes:
    """GraphML with all properties of contexts and edges as attributes; group -1 is none."""
    result = networkx.Graph(program=graph.program)
    for node in graph.nodes:
        result.add_node(
            node.context,
            label=node.label,
            stack="\n".join(node.stack),
            accesses=node.accesses,
            group=-1 if node.group is None else node.group,
        )
        if node.loop:
            result.add_edge(node.context, node.context, weight=node.loop)
    for one, other, weight in graph.edges:
        result.add_edge(one, other, weight=weight)
    stream = io.BytesIO()
    networkx.write_graphml_xml(result, stream, prettyprint=True)
    return stream.getvalue()


def dot(graph: Graph) -> bytes:
    """DOT for Graphviz: coloured by group, with pen widths by weight."""
    heaviest = max([w for *_, w in graph.edges] + [node.loop for node in graph.nodes])
    loops = [(node.context, node.context, node.loop) for node in graph.nodes if node.loop]
    lines = [f"graph {quoted(graph.program)} {{", "  node [style=filled, fontname=sans];"]
    for node in graph.nodes:
        colour = group_colour(node.group)
        lines.append(
            f"  {node.context} [label={quoted(node.label)}, fillcolor={quoted(colour)},"
            f" fontcolor={quoted(text_on(colour))},"
            f" tooltip={quoted(' < '.join(node.stack))}];"
        )
    for one, other, weight in [*graph.edges, *loops]:
        width = 0.3 + 6 * (weight / heaviest) ** 0.5
        lines.append(f"  {one} -- {other} [weight={weight}, penwidth={width:.2f}];")
    return ("\n".join([*lines, "}"]) + "\n").encode("utf-8", "replace")


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
