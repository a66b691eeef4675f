"""What a strategy is: a name, declared options and a pure function from a profile to groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from halo.profile import AffinityGraph, Context, Profile, affinity_graph

_Options = TypeVar("_Options")


class Candidate(NamedTuple):
    """A proposed group: context ids and, in a few words, why they belong together."""

    contexts: Sequence[int]
    reason: str


@dataclass(frozen=True)
class Subject:
    """What a strategy works on: a profile, and the contexts that it may group."""

    profile: Profile
    max_size: int

    def may_group(self, context: Context) -> bool:
        """True if the context makes objects, and its smallest is not too large for a pool."""
        return context.allocations > 0 and context.min_size <= self.max_size

    def eligible(self) -> list[int]:
        """The ids of all contexts that may be grouped."""
        return [at for at, item in enumerate(self.profile.contexts) if self.may_group(item)]

    def graph(self, coverage: float) -> AffinityGraph:
        """The affinity graph of the hot contexts (HALO, section 4.1) that may be grouped."""
        return affinity_graph(self.profile, coverage, self.may_group)


@dataclass(frozen=True)
class Strategy(Generic[_Options]):
    """One way of grouping; `options` is a frozen dataclass made of `halo.plan.option` fields.

    `at_random`: its groups have no contexts, as each object goes to one of them by chance.
    """

    name: str
    summary: str
    options: type[_Options]
    group: Callable[[Subject, _Options], Sequence[Candidate]]
    at_random: bool = False


@dataclass(frozen=True)
class NoOptions:
    """For strategies without options of their own."""


AnyStrategy = Strategy[Any]
