"""The type of strategies: a name, declared options, a pure function from a profile to groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from halo.plan.model import ConflictReview, PageLayout, Spans
from halo.record.profile import AffinityGraph, Context, Profile, affinity_graph
from halo.record.profile.sections.section import Section

_Options = TypeVar("_Options")


class ProposedGroup(NamedTuple):
    """A proposed group: context ids, and the reason for grouping them, in a few words.

    With a `layout`, the group has single-size pages of that layout. With `spans`, its objects may
    be of any size. `conflicts` is for review.
    """

    contexts: Sequence[int]
    reason: str
    layout: PageLayout | None = None
    conflicts: ConflictReview | None = None
    spans: Spans | None = None


@dataclass(frozen=True)
class StrategyInput:
    """The input of a strategy: a profile, and the largest size in bytes that may be grouped."""

    profile: Profile
    max_size: int

    def may_group(self, context: Context) -> bool:
        """True if the context has objects, and the smallest has at most `max_size` bytes."""
        return context.allocations > 0 and context.min_size <= self.max_size

    def eligible(self) -> list[int]:
        """The ids of all contexts that may be grouped, ascending."""
        return [at for at, item in enumerate(self.profile.contexts) if self.may_group(item)]

    def graph(self, coverage: float) -> AffinityGraph:
        """The affinity graph of the hot contexts that may be grouped (HALO, section 4.1).

        Hot contexts are the hottest ones that account for `coverage` (0 to 1) of all accesses.
        """
        return affinity_graph(self.profile, coverage, self.may_group)


@dataclass(frozen=True)
class Strategy(Generic[_Options]):
    """A named grouping algorithm; `options` is a frozen dataclass of `halo.plan.option` fields.

    `group` returns disjoint candidates, in the order of their group indices. If `at_random` is
    set, the groups have no contexts: the runtime draws a group for each object. `needs` is a
    section of the profile that has to be recorded by an option; None: none. `largest` returns the
    bytes of the largest object that its groups may have, from a profile with that section.
    `names_contexts`: an option names contexts by their ids.
    """

    name: str
    summary: str
    options: type[_Options]
    group: Callable[[StrategyInput, _Options], Sequence[ProposedGroup]]
    at_random: bool = False
    needs: Section[Any] | None = None
    largest: Callable[[Profile], int] | None = None
    names_contexts: bool = False


@dataclass(frozen=True)
class Prospect:
    """Whether the plans of a strategy could matter to a program, by a test that is cheap.

    `why` is a clause with the figure that decides.
    """

    could_matter: bool
    why: str


def clause(sentence: str) -> str:
    """The sentence as a clause behind a colon."""
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


@dataclass(frozen=True)
class NoOptions:
    """For strategies without options of their own."""


AnyStrategy = Strategy[Any]
