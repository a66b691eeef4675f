"""The result of a strategy: which allocation contexts share a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from halo.plan.model import ConflictReview, PageLayout, Spans


@dataclass(frozen=True)
class Group:
    """Contexts, by id, whose objects go into one pool.

    `coverage` is the members' share of all recorded accesses (0 to 1); `weight` sums the affinity
    between them, loops included. With a `layout`, the group has single-size pages of that layout.
    With `spans`, its objects may be of any size.
    """

    contexts: tuple[int, ...]
    reason: str
    coverage: float = 0.0
    weight: int = 0
    layout: PageLayout | None = None
    conflicts: ConflictReview | None = None
    spans: Spans | None = None


@dataclass(frozen=True)
class Grouping:
    """Disjoint groups, in order of their index, with the strategy and its parameters.

    If `at_random` is set, the groups have no contexts: the runtime draws a group for each object.
    Objects of more than `largest` bytes are in no group; None: only the plan has a limit.
    """

    strategy: str
    groups: tuple[Group, ...]
    parameters: Mapping[str, int | float | bool | str] = field(default_factory=dict)
    at_random: bool = False
    largest: int | None = None

    def labels(self, contexts: int, otherwise: int) -> list[int]:
        """The group index of each of `contexts` contexts; `otherwise` for those in no group."""
        found = [otherwise] * contexts
        for index, group in enumerate(self.groups):
            for context in group.contexts:
                found[context] = index
        return found
