"""Groups of contexts whose objects compete for sets of the first cache (Yardımcı and Kaeli)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from halo.base.errors import BadInput
from halo.plan.model import ConflictReview
from halo.plan.options import option
from halo.plan.strategies.base import ProposedGroup, Prospect, Strategy, StrategyInput
from halo.record.profile import CONFLICTS, Conflicts, Profile
from halo.studies.conflicts.fit import misfit
from halo.studies.conflicts.placement import (
    MIN_CONFLICT_SHARE,
    Competitor,
    competing,
    heaviest,
    layout_of,
    place,
    sharing_pages,
    table_mask,
    unplaceable_contexts,
)
from halo.studies.conflicts.ranking import conflict_share, obstacle


@dataclass(frozen=True)
class Options:
    least: float = option(
        MIN_CONFLICT_SHARE,
        "minimum share of the first cache's misses, of all conflicts and of a state's",
        0,
        1,
    )
    reading: str = option(
        "interference",
        "slots of a group: interference: by predicted conflicts; table: those that partners did not"
        " use in the recording",
        choices=("interference", "table"),
    )
    placement: str = option(
        "pages",
        "who finds a permitted start: pages: single-size pages, by their layout; stepping:"
        " each allocation, in one heap of all groups, which have one context each",
        choices=("pages", "stepping"),
    )
    separate: bool = option(False, "one group for each context")
    skip_frames: int = option(
        0, "innermost call sites that are ignored: contexts that differ only there share a group", 0
    )


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """One group for each set of contexts that conflict with each other, the worst first.

    `BadInput` if the profile has no conflicts.
    """
    conflicts = _recorded(subject.profile)
    if fault := misfit(conflicts):
        raise BadInput(f"{fault[0].upper()}{fault[1:]}, so record conflicts of another machine.")
    parts = competing(conflicts, options.least)
    steps = options.placement == "stepping"
    if options.separate or steps:
        parts = [[at] for part in parts for at in part]
    labels = _labels(subject.profile, options.skip_frames)
    groups = _contexts(conflicts, labels, _joined(conflicts, labels, parts))
    parts = [sharing_pages(conflicts, contexts) for contexts in groups]
    if options.reading == "table":
        placed = [
            Competitor(tuple(part), layout_of(conflicts, part, table_mask(conflicts, part)))
            for part in parts
        ]
    else:
        placed = place(conflicts, parts)
    if steps:
        placed = [_stepping(one) for one in placed]
    return [
        ProposedGroup(contexts, _reason(conflicts, one), one.layout, _review(conflicts, one))
        for contexts, one in zip(groups, placed, strict=True)
    ]


def prospect(subject: StrategyInput) -> Prospect:
    """By the share of the misses that are conflicts, and whether placement can spare any.

    `BadInput` if the profile has no conflicts.
    """
    conflicts = _recorded(subject.profile)
    if why := obstacle(conflicts):
        return Prospect(False, why)
    share = conflict_share(conflicts)
    return Prospect(True, f"{share:.2%} of the first cache's misses are conflicts")


def _recorded(profile: Profile) -> Conflicts:
    found = CONFLICTS.of(profile)
    if found is None:
        raise BadInput(
            "The profile has no conflicts, which strategy conflict needs; record it with:"
            " halo record --conflicts"
        )
    return found


def _largest(profile: Profile) -> int:
    """A quarter of the recorded cache (section 2 of the paper)."""
    conflicts = CONFLICTS.of(profile)
    assert conflicts is not None, "group() has refused the profile"
    return conflicts.cache_bytes // 4


def _stepping(one: Competitor) -> Competitor:
    """The same slots for the paper's allocator, to which a block is at its first address."""
    layout = one.layout._replace(line_start=False, stepping=True)
    return replace(one, layout=layout)


def _labels(profile: Profile, skip: int) -> list[tuple[int, ...]]:
    """By context: its call sites without the innermost ones; contexts without any others differ."""
    return [
        tuple(profile.stack(context))[skip:] or (-1, context)
        for context in range(len(profile.contexts))
    ]


def _joined(
    conflicts: Conflicts, labels: Sequence[tuple[int, ...]], parts: Sequence[Sequence[int]]
) -> list[list[int]]:
    """The parts, joined if they share a label, as a group has all contexts of a label."""
    joined: list[list[int]] = []
    for part in parts:
        mine = _labels_of(conflicts, labels, part)
        same = [other for other in joined if mine & _labels_of(conflicts, labels, other)]
        joined = [other for other in joined if other not in same]
        joined.append(sorted({*part, *(at for other in same for at in other)}))
    return sorted(joined, key=lambda part: -sum(conflicts.states[at].conflict for at in part))


def _labels_of(
    conflicts: Conflicts, labels: Sequence[tuple[int, ...]], states: Sequence[int]
) -> set[tuple[int, ...]]:
    contexts = (conflicts.states[at].context for at in states)
    return {labels[context] for context in contexts if context is not None}


def _contexts(
    conflicts: Conflicts, labels: Sequence[tuple[int, ...]], parts: Sequence[Sequence[int]]
) -> list[list[int]]:
    """By part: the contexts with its labels, without those that placement cannot help."""
    apart, found = unplaceable_contexts(conflicts), []
    for part in parts:
        mine = _labels_of(conflicts, labels, part)
        found.append([at for at, label in enumerate(labels) if label in mine and at not in apart])
    return found


def _reason(conflicts: Conflicts, one: Competitor) -> str:
    states = [conflicts.states[at] for at in one.states]
    conflict, misses = sum(it.conflict for it in states), sum(it.misses for it in states)
    slots = one.layout.starts.bit_count()
    where = f"{'step to' if one.layout.stepping else 'start in'} {slots} of 64 slots"
    predicted = "" if one.predicted is None else f", predicted {one.predicted:,.0f} conflict misses"
    return (
        f"competes for cache sets: {conflict:,} conflict misses, {conflict / max(1, misses):.0%} of"
        f" its misses; blocks {where}{predicted}"
    )


def _review(conflicts: Conflicts, one: Competitor) -> ConflictReview:
    return ConflictReview(
        slots=one.layout.starts.bit_count(),
        hot_line=conflicts.states[heaviest(conflicts, one.states)].hot_line,
        recorded=sum(conflicts.states[at].conflict for at in one.states),
        spread=one.spread,
        placed=one.predicted,
    )


STRATEGY = Strategy(
    "conflict",
    "contexts that compete for sets of the first cache (Yardımcı and Kaeli); needs halo record"
    " --conflicts",
    Options,
    group,
    needs=CONFLICTS,
    largest=_largest,
)
