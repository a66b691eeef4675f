"""Groupings in the search: which contexts share a group, and the pages of each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from halo.plan.alignment import Aligner, ProofSource, proof_of_program
from halo.plan.builder import PlanOptions, group_settings, huge_pages_of, largest_grouped
from halo.plan.model import PageLayout
from halo.record.profile import Profile
from halo.studies.search.placement import Placement, Verdict

_ABI = 16
SPREAD, PACKED = PageLayout(), PageLayout(packed=True)
LAYOUTS: tuple[PageLayout | None, ...] = (None, SPREAD, PACKED)
"""Of a group's pages: mixed-size, single-size with blocks over all sets, or adjacent blocks."""


class DraftGroup(NamedTuple):
    """Contexts, ascending, and the layout of their pages; None: mixed-size pages."""

    contexts: tuple[int, ...]
    layout: PageLayout | None


class Draft(NamedTuple):
    """Disjoint groups without empty ones, in order; equal groupings are equal drafts."""

    groups: tuple[DraftGroup, ...]


def make_draft(groups: Sequence[tuple[Sequence[int], PageLayout | None]]) -> Draft:
    made = (DraftGroup(tuple(sorted(contexts)), layout) for contexts, layout in groups if contexts)
    return Draft(tuple(sorted(made, key=lambda group: group.contexts)))


class Placer:
    """Turns drafts into placements, with the settings that the plan's builder chooses."""

    def __init__(
        self, profile: Profile, max_object: int = 0, prove: ProofSource = proof_of_program
    ) -> None:
        """`max_object`: the size in bytes of the largest object to group; 0: as recorded."""
        options = PlanOptions(max_object=max_object)
        self._profile, self._options = profile, options
        aligner = Aligner(
            options.few_sizes, options.relax, False, lambda: prove(profile, options.trust_loaded)
        )
        self._align16 = [aligner.of([context]) == _ABI for context in profile.contexts]

    def place(self, draft: Draft) -> Placement:
        huge_pages = huge_pages_of(
            self._profile, [group.contexts for group in draft.groups], self._options
        )
        groups = [
            group_settings(is_huge, self._options, group.layout)
            for group, is_huge in zip(draft.groups, huge_pages, strict=True)
        ]
        verdicts: dict[int, Verdict] = {}
        for at, group in enumerate(draft.groups):
            verdicts |= {it: Verdict(at, self._align16[it]) for it in group.contexts}
        largest = self._options.max_object or largest_grouped(self._profile)
        return Placement(groups, verdicts, largest)


def neighbours(draft: Draft, hot: Sequence[int], max_groups: int) -> Iterator[Draft]:
    """All drafts that one move makes; `hot` contexts are moved alone, up to `max_groups` groups.

    Moves merge two groups, choose another layout for a group, or put a hot context into another
    group, a new one, or none.
    """
    groups = draft.groups
    for at, group in enumerate(groups):
        others = groups[:at] + groups[at + 1 :]
        for layout in LAYOUTS:
            if layout != group.layout:
                yield make_draft([*others, (group.contexts, layout)])
        for other in groups[at + 1 :]:
            rest = [it for it in others if it != other]
            yield make_draft([*rest, (group.contexts + other.contexts, group.layout)])
    for context in hot:
        yield from _moved(groups, context, max_groups)


def _moved(groups: tuple[DraftGroup, ...], context: int, max_groups: int) -> Iterator[Draft]:
    without = [(tuple(c for c in it.contexts if c != context), it.layout) for it in groups]
    home = next((at for at, it in enumerate(groups) if context in it.contexts), None)
    for at, (members, layout) in enumerate(without):
        if at != home:
            yield make_draft([*without[:at], *without[at + 1 :], ((*members, context), layout)])
    if home is not None:
        yield make_draft(without)
    if len(groups) < max_groups and (home is None or len(groups[home].contexts) > 1):
        for layout in LAYOUTS:
            yield make_draft([*without, ((context,), layout)])
