"""Selectors: logical expressions over call sites that identify groups.

HALO, section 4.2, figure 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from halo.plan.callsites import UNMATCHABLE

Chain = Sequence[int]
"""A context's call sites, the caller of malloc first."""


class Expression(NamedTuple):
    """A conjunction: an allocation belongs to the group if all these call sites are active."""

    group: int
    sites: tuple[int, ...]


class Selection(NamedTuple):
    """Conjunctions in the order of evaluation; ids of members without any usable call site."""

    expressions: tuple[Expression, ...]
    unreachable: tuple[int, ...]


class Usable:
    """Which call sites may occur in selectors: at most `maximum` that can be redirected."""

    def __init__(self, redirectable: Callable[[int], bool], maximum: int) -> None:
        self._redirectable = redirectable
        self._max = maximum
        self.used: dict[int, int] = {}
        """The sites that occur, and the index of each in the plan."""

    def __call__(self, site: int) -> bool:
        if site in self.used:
            return True
        return len(self.used) < self._max and site != UNMATCHABLE and self._redirectable(site)

    def use(self, site: int) -> None:
        self.used.setdefault(site, len(self.used))


def select(
    groups: Iterable[tuple[int, Sequence[int]]],
    labels: Mapping[int, int],
    chains: Mapping[int, Chain],
    usable: Usable,
    max_sites: int,
) -> Selection:
    """HALO, figure 10: a selector for each of `groups`, the most popular group first.

    `groups` are pairs of a group index and context ids. `labels` and `chains` map every context
    that could conflict to its group and its call sites. A conjunction has at most `max_sites`
    sites, each of which has to reduce the number of conflicts.
    """
    finder = _Finder(labels, chains)
    found: dict[Expression, None] = {}
    unreachable = []
    for group, members in groups:
        finder.ignore(group)
        for member in members:
            sites = finder.conjunction(chains[member], usable, max_sites)
            if sites:
                found.setdefault(Expression(group, sites))
            else:
                unreachable.append(member)
    return Selection(tuple(found), tuple(unreachable))


class _Finder:
    """Finds conjunctions; sets of contexts are integers, whose bits are counted by words."""

    def __init__(self, labels: Mapping[int, int], chains: Mapping[int, Chain]) -> None:
        self._through: dict[int, int] = {}
        self._of_group: dict[int, int] = {}
        self._rest = (1 << len(chains)) - 1
        for bit, (context, chain) in enumerate(chains.items()):
            for site in chain:
                self._through[site] = self._through.get(site, 0) | 1 << bit
            group = labels[context]
            self._of_group[group] = self._of_group.get(group, 0) | 1 << bit

    def ignore(self, group: int) -> None:
        """Excludes the contexts of this group from conflicts from now on."""
        self._rest &= ~self._of_group.get(group, 0)

    def conjunction(self, chain: Chain, usable: Usable, maximum: int) -> tuple[int, ...]:
        """The sites for one member; none if no site of its chain can be used."""
        matching = self._rest
        conflicts = math.inf
        sites: list[int] = []
        while conflicts and len(sites) < maximum:
            # `min` returns the first of the sites with the fewest conflicts: the innermost.
            best = min(
                (site for site in dict.fromkeys(chain) if usable(site)),
                key=lambda site: (matching & self._through[site]).bit_count(),
                default=None,
            )
            if best is None:
                break
            count = (matching & self._through[best]).bit_count()
            if count == conflicts:
                break
            sites.append(best)
            usable.use(best)
            matching &= self._through[best]
            conflicts = count
        return tuple(sites)


def first_match(expressions: Sequence[Expression], chain: Chain) -> int | None:
    """The index of the first conjunction that holds for a context; None: it is forwarded."""
    active = set(chain)
    for at, expression in enumerate(expressions):
        if active.issuperset(expression.sites):
            return at
    return None
