"""Strategies: pure functions from a profile to groups of contexts (docs/strategies.md).

A strategy is one file in this folder and one line in `registry.py`.
"""

from halo.plan.grouping import Group, Grouping
from halo.strategies.base import Candidate, Strategy
from halo.strategies.factory import make_grouping, names, strategy_named
from halo.strategies.registry import STRATEGIES

__all__ = [
    "STRATEGIES",
    "Candidate",
    "Group",
    "Grouping",
    "Strategy",
    "make_grouping",
    "names",
    "strategy_named",
]
