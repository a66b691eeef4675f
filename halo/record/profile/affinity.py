"""The pairwise affinity graph, reduced to hot contexts (HALO, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from halo.record.profile.model import Context, Edge, Profile


@dataclass(frozen=True)
class AffinityGraph:
    """Contexts and the affinity between them.

    `nodes` are context ids, most accessed first; `accesses` are theirs, in that order; `edges` are
    (context, context, weight) with both ends among the nodes; `total_accesses` includes discarded
    contexts.
    """

    nodes: tuple[int, ...]
    accesses: tuple[int, ...]
    edges: tuple[Edge, ...]
    total_accesses: int


def covering_contexts(profile: Profile, coverage: float) -> tuple[int, ...]:
    """The filter of HALO, section 4.1: context ids from most to least accessed, up to `coverage`.

    The running total includes the context that reaches the share; later ones are discarded.
    Smaller ids win ties. A coverage of 1 keeps every context with accesses.
    """
    total = profile.accesses
    order = sorted(range(len(profile.contexts)), key=lambda at: -profile.contexts[at].accesses)
    running, kept = 0, []
    for at in order:
        if running >= coverage * total:
            break
        running += profile.contexts[at].accesses
        kept.append(at)
    return tuple(kept)


def affinity_graph(
    profile: Profile,
    coverage: float = 0.9,
    keep: Callable[[Context], bool] = lambda context: True,
) -> AffinityGraph:
    """The graph of the contexts that account for `coverage` (0 to 1) of all accesses.

    `keep` drops further contexts afterwards, for instance those whose objects are too large.
    """
    nodes = tuple(at for at in covering_contexts(profile, coverage) if keep(profile.contexts[at]))
    kept = frozenset(nodes)
    return AffinityGraph(
        nodes=nodes,
        accesses=tuple(profile.contexts[at].accesses for at in nodes),
        edges=tuple(edge for edge in profile.edges if edge[0] in kept and edge[1] in kept),
        total_accesses=profile.accesses,
    )
