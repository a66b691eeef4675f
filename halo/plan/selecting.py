"""Selectors: logical expressions over call sites that tell groups apart (HALO, figure 10)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from halo.plan.callsites import UNMATCHABLE

Chain = Sequence[int]
"""A context's call sites, the caller of malloc first."""


class Expression(NamedTuple):
    """A conjunction: an allocation is the group's while all these call sites are active."""

    group: int
    sites: tuple[int, ...]


class Selection(NamedTuple):
    """Conjunctions in the order in which they are tried; members for whom there is no site."""

    expressions: tuple[Expression, ...]
    unreachable: tuple[int, ...]


class Usable:
    """Which call sites may occur in selectors: those that can be redirected, up to so many."""

    def __init__(self, redirectable: Callable[[int], bool], most: int) -> None:
        self._redirectable = redirectable
        self._most = most
        self.used: dict[int, int] = {}
        """The sites that occur, and the number of each."""

    def __call__(self, site: int) -> bool:
        if site in self.used:
            return True
        return len(self.used) < self._most and site != UNMATCHABLE and self._redirectable(site)

    def use(self, site: int) -> None:
        self.used.setdefault(site, len(self.used))


def select(
    groups: Iterable[tuple[int, Sequence[int]]],
    labels: Mapping[int, int],
    chains: Mapping[int, Chain],
    usable: Usable,
    most_sites: int,
) -> Selection:
    """Figure 10: a selector for each of `groups`, given by popularity, the greatest first.

    `labels` and `chains` hold the group and the call sites of every context that could conflict.
    A conjunction gets at most `most_sites` sites, each of which has to reduce the conflicts.
    """
    finder = _Finder(labels, chains)
    found: dict[Expression, None] = {}
    unreachable = []
    for group, members in groups:
        finder.ignore(group)
        for member in members:
            sites = finder.conjunction(chains[member], usable, most_sites)
            if sites:
                found.setdefault(Expression(group, sites))
            else:
                unreachable.append(member)
    return Selection(tuple(found), tuple(unreachable))


class _Finder:
    """Contexts as bits of a number, so that conflicts are counted a machine word at a time."""

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
        """Contexts of this group conflict with nobody from now on."""
        self._rest &= ~self._of_group.get(group, 0)

    def conjunction(self, chain: Chain, usable: Usable, most: int) -> tuple[int, ...]:
        """The sites for one member; none where none of its own can be used."""
        matching = self._rest
        conflicts = math.inf
        sites: list[int] = []
        while conflicts and len(sites) < most:
            # The innermost of those with the fewest: min keeps the first.
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
    """The index of the conjunction that decides about a context; None: it is forwarded."""
    active = set(chain)
    for at, expression in enumerate(expressions):
        if active.issuperset(expression.sites):
            return at
    return None
