"""HALO's groups, and a pool of its own for each hot context that HALO leaves over.

Figure 6 leaves a context ungrouped when it has no affinity to others, however hot it is. Alone in
a pool its objects are dense and may be aligned by size, which the surrounding heap cannot offer.
"""

from __future__ import annotations

from dataclasses import dataclass

from halo.plan.options import option
from halo.strategies import halo
from halo.strategies.base import Candidate, Strategy, Subject


@dataclass(frozen=True)
class Options(halo.Options):
    min_share: float = option(0.005, "least share of all accesses of a context alone", 0, 1)


def group(subject: Subject, options: Options) -> list[Candidate]:
    """The groups of `halo`, then singletons, hottest first."""
    groups = halo.group(subject, options)
    grouped = {context for candidate in groups for context in candidate.contexts}
    graph = subject.graph(options.coverage)
    least = options.min_share * graph.total_accesses
    singles = [
        Candidate([context], "hot, and alone")
        for context, accesses in zip(graph.nodes, graph.accesses, strict=True)
        if context not in grouped and accesses >= least
    ]
    return groups + singles


STRATEGY = Strategy("halo-hot", "halo, and each hot context left over alone", Options, group)
