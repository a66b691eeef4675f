"""The candidates of a race, by their part in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

FINALISTS = 3


@dataclass(frozen=True)
class Arms:
    """Labels of candidates.

    `controls`: allocators alone, the fastest first. `challengers`: plans over the fastest. `twins`:
    by challenger, the same plan over the second-fastest, which enters the final with it.
    `huge_page_users`: those whose plan requests huge pages.
    """

    controls: Sequence[str]
    challengers: Sequence[str]
    twins: Mapping[str, str] = field(default_factory=dict)
    huge_page_users: Collection[str] = ()

    def finalists(self, ranked: Sequence[str]) -> list[str]:
        """The labels of the final: the first of the ranked challengers, and the twin of the first.

        Only one of them may use huge pages, as each trial of such a plan has a cool-down. Their
        cost is visible only with that cool-down, so the others are the best ones without them.
        """
        huge = [label for label in ranked if label in self.huge_page_users]
        chosen = [label for label in ranked if label not in huge[1:]][:FINALISTS]
        twin = [self.twins[label] for label in chosen[:1] if label in self.twins]
        return [*self.controls, *chosen, *twin]
