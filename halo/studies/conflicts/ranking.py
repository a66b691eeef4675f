"""Ranks the recorded states and pairs by their conflict misses, and sums these up."""

from __future__ import annotations

from pathlib import Path

from halo.base.errors import BadInput
from halo.record.profile import CONFLICTS, Conflicts, Profile
from halo.record.profile.sections.conflicts import HOT_SHARE, OUTSIDE, RecordedState
from halo.studies.conflicts.document import CompetingPair, MissesByClass
from halo.studies.conflicts.fit import misfit
from halo.studies.conflicts.placement import MIN_CONFLICT_SHARE, competing


def conflicts_of(profile: Profile, path: Path) -> Conflicts:
    """The recorded conflicts of the profile at that path; `BadInput` if there are none."""
    found = CONFLICTS.of(profile)
    if found is None:
        raise BadInput(
            f"{path} has no record of conflicts; record it with: halo record --conflicts"
        )
    return found


def missed(conflicts: Conflicts) -> MissesByClass:
    """The misses of all states."""
    return MissesByClass(
        compulsory=sum(state.compulsory for state in conflicts.states),
        capacity=sum(state.capacity for state in conflicts.states),
        conflict=sum(state.conflict for state in conflicts.states),
    )


def conflict_share(conflicts: Conflicts) -> float:
    """The share of the misses, 0 to 1, that are conflicts."""
    misses = missed(conflicts)
    return misses.conflict / max(1, misses.total)


def outside_share(conflicts: Conflicts) -> float:
    """The share of the conflict misses, 0 to 1, with memory outside tracked objects in the set.

    Misses of states that the recorder left out are counted by slot only, hence the limit.
    """
    return min(1.0, sum(conflicts.outside_slots) / max(1, missed(conflicts).conflict))


def is_placeable(conflicts: Conflicts, least: float = MIN_CONFLICT_SHARE) -> bool:
    """Whether the strategy `conflict` accepts the recorded machine, and finds states to place."""
    return not misfit(conflicts) and bool(competing(conflicts, least))


def obstacle(conflicts: Conflicts) -> str:
    """Why placement by cache set cannot help, a clause with its figure; empty if it may."""
    share, fault = conflict_share(conflicts), misfit(conflicts)
    if not missed(conflicts).conflict:
        return "there are no conflict misses"
    if share < MIN_CONFLICT_SHARE:
        return f"only {share:.2%} of the misses are conflicts, less than {MIN_CONFLICT_SHARE:.1%}"
    if fault or is_placeable(conflicts):
        return fault
    return (
        "the conflict misses are of memory that no plan moves, or of states with less than"
        f" {MIN_CONFLICT_SHARE:.1%} of the misses each"
    )


def ranked_states(conflicts: Conflicts) -> list[int]:
    """The numbers of all states, those with the most conflict misses first, then all misses."""
    states = conflicts.states

    def rank(number: int) -> tuple[int, ...]:
        state = states[number]
        return (-state.conflict, -state.misses, -state.accesses, number)

    return sorted(range(len(states)), key=rank)


def ranked_pairs(conflicts: Conflicts) -> list[CompetingPair]:
    """All pairs, those with the most conflict misses first, then those with the most lines.

    A miss counts once for each line in the set, so the ways divide the count of lines.
    """
    pairs = [
        CompetingPair(
            first=pair.first,
            second=pair.second,
            misses=pair.conflict / max(1, conflicts.cache.ways),
            lines=conflicts.interference.get((pair.first, pair.second), 0.0),
        )
        for pair in conflicts.pairs
    ]
    return sorted(pairs, key=lambda pair: (-pair.misses, -pair.lines, pair.first, pair.second))


def slots_used(state: RecordedState) -> int:
    """The fewest slots that have nine tenths of the uses of the state's lines."""
    left = HOT_SHARE * sum(state.by_slot)
    for number, count in enumerate(sorted(state.by_slot, reverse=True)):
        if left <= 0:
            return number
        left -= count
    return len([count for count in state.by_slot if count])


def conflicting_objects(conflicts: Conflicts) -> list[int]:
    """The ranked states of objects that have conflict misses."""
    return [
        number
        for number in ranked_states(conflicts)
        if number != OUTSIDE and conflicts.states[number].conflict
    ]
