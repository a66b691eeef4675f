"""Contexts thrown into groups at random: the control that every claim about grouping needs."""

from __future__ import annotations

import random
from dataclasses import dataclass

from halo.plan.options import option
from halo.strategies.base import Candidate, Strategy, Subject


@dataclass(frozen=True)
class Options:
    groups: int = option(4, "number of groups (HALO's evaluation, figure 15, uses four)", 1, 4096)
    seed: int = option(0, "seed of the random numbers")
    coverage: float = option(0.9, "share of all accesses to be covered", 0, 1)


def group(subject: Subject, options: Options) -> list[Candidate]:
    """Each hot context in one of `groups` groups, the same ones for the same seed."""
    chooser = random.Random(options.seed)
    members: list[list[int]] = [[] for _ in range(options.groups)]
    for context in sorted(subject.graph(options.coverage).nodes):
        members[chooser.randrange(options.groups)].append(context)
    reason = f"random, seed {options.seed}"
    return [Candidate(contexts, reason) for contexts in members]


STRATEGY = Strategy("random", "hot contexts in random groups", Options, group)
