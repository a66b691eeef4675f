"""Each small object in one of a few pools, whoever allocates it: does placement matter at all?"""

from __future__ import annotations

from dataclasses import dataclass

from halo.plan.options import option
from halo.strategies.base import Candidate, Strategy, Subject


@dataclass(frozen=True)
class Options:
    pools: int = option(4, "number of pools (HALO's evaluation, figure 15, uses four)", 1, 4096)


def group(subject: Subject, options: Options) -> list[Candidate]:
    """`pools` groups without contexts of their own; none where there is nothing to group."""
    if not subject.eligible():
        return []
    return [Candidate((), f"one of {options.pools} pools, drawn at random")] * options.pools


STRATEGY = Strategy(
    "random-pools", "each small object in a pool drawn at random", Options, group, at_random=True
)
