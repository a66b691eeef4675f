"""All hot contexts in one pool: is it the grouping that pays, or the pool?"""

from __future__ import annotations

from dataclasses import dataclass

from halo.plan.options import option
from halo.strategies.base import Candidate, Strategy, Subject


@dataclass(frozen=True)
class Options:
    coverage: float = option(0.9, "share of all accesses to be covered (paper, 4.1)", 0, 1)


def group(subject: Subject, options: Options) -> list[Candidate]:
    """One group of the contexts that account for `coverage` of all accesses."""
    nodes = subject.graph(options.coverage).nodes
    return [Candidate(nodes, f"hottest contexts, {options.coverage:.0%} of all accesses")]


STRATEGY = Strategy("one-pool", "all hot contexts share one group", Options, group)
