"""Writes the states of conflicts and their pairs as a directed graph for Graphviz."""

from __future__ import annotations

from halo.record.profile import Conflicts
from halo.report.figures.drawing.graph_files import quoted
from halo.studies.conflicts.document import CompetingPair
from halo.studies.conflicts.names import StateNames, label
from halo.studies.conflicts.ranking import ranked_pairs


def conflict_states(conflicts: Conflicts) -> list[int]:
    """The numbers of the states in the graph."""
    pairs = _drawn_pairs(conflicts)
    return sorted({pair.first for pair in pairs} | {pair.second for pair in pairs})


def _drawn_pairs(conflicts: Conflicts) -> list[CompetingPair]:
    """The pairs with a conflict miss, to the nearest whole number."""
    return [pair for pair in ranked_pairs(conflicts) if round(pair.misses)]


def conflict_graph(program: str, conflicts: Conflicts, names: StateNames) -> bytes:
    """DOT: an edge from the state that misses to the state in the set, by conflict misses."""
    pairs = _drawn_pairs(conflicts)
    lines = [f"digraph {quoted(program)} {{", "  node [shape=box, fontname=sans];"]
    for number in conflict_states(conflicts):
        name, stack = label(number, names[number]), " < ".join(names[number].stack)
        lines.append(f"  {number} [label={quoted(name)}, tooltip={quoted(stack)}];")
    for pair in pairs:
        weight = round(pair.misses)
        width = 0.3 + 6 * (pair.misses / pairs[0].misses) ** 0.5
        lines.append(
            f"  {pair.first} -> {pair.second}"
            f' [weight={weight}, label="{weight:,}", penwidth={width:.2f}];'
        )
    return ("\n".join([*lines, "}"]) + "\n").encode("utf-8", "replace")
