"""Hot contexts in random groups: a control for the choice of groups."""

from __future__ import annotations

import random
from dataclasses import dataclass

from halo.plan.options import option
from halo.plan.strategies.base import ProposedGroup, Strategy, StrategyInput


@dataclass(frozen=True)
class Options:
    groups: int = option(4, "number of groups (HALO, figure 15: four)", 1, 4096)
    seed: int = option(0, "seed of the random numbers")
    coverage: float = option(0.9, "share of all accesses that the groups cover", 0, 1)


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """Each hot context in one of `groups` groups; the same seed makes the same groups."""
    chooser = random.Random(options.seed)
    members: list[list[int]] = [[] for _ in range(options.groups)]
    for context in sorted(subject.graph(options.coverage).nodes):
        members[chooser.randrange(options.groups)].append(context)
    reason = f"random, seed {options.seed}"
    return [ProposedGroup(contexts, reason) for contexts in members]


STRATEGY = Strategy("random", "hot contexts in random groups", Options, group)
