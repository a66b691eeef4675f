"""The documents that `--json` writes, of conflicts and of state coverage."""

from __future__ import annotations

from halo.record.profile import Conflicts, Profile
from halo.record.profile.sections.conflicts import RecordedState
from halo.studies.conflicts.coverage import measure_coverage, unlisted_share
from halo.studies.conflicts.coverage_document import CoverageDocument
from halo.studies.conflicts.document import CompetingState, ConflictsDocument, MissesByClass
from halo.studies.conflicts.names import name_states
from halo.studies.conflicts.placement import MIN_CONFLICT_SHARE
from halo.studies.conflicts.ranking import (
    conflict_share,
    is_placeable,
    missed,
    outside_share,
    ranked_pairs,
    ranked_states,
    slots_used,
)


def conflicts_document(profile: Profile, conflicts: Conflicts) -> ConflictsDocument:
    """All states and pairs of the profile."""
    states = ranked_states(conflicts)
    names = name_states(profile, conflicts, states)
    return ConflictsDocument(
        program=profile.program,
        arguments=profile.args,
        machine=conflicts.machine,
        misses=missed(conflicts),
        conflict_share=conflict_share(conflicts),
        outside_share=outside_share(conflicts),
        min_conflict_share=MIN_CONFLICT_SHARE,
        placeable=is_placeable(conflicts),
        states=tuple(
            _state(number, conflicts.states[number], names[number].stack) for number in states
        ),
        pairs=tuple(ranked_pairs(conflicts)),
        states_left_out=conflicts.states_left_out,
        pairs_left_out=conflicts.pairs_left_out,
    )


def _state(number: int, state: RecordedState, stack: tuple[str, ...]) -> CompetingState:
    return CompetingState(
        number=number,
        context=state.context,
        stack=stack,
        size=state.size,
        accesses=state.accesses,
        misses=MissesByClass(state.compulsory, state.capacity, state.conflict),
        objects=state.objects,
        peak=state.peak,
        hot_line=state.hot_line,
        hot_lines=state.hot_lines,
        slots=slots_used(state),
        far=state.far_share,
        by_slot=state.by_slot,
    )


def coverage_document(training: Profile, reference: Profile) -> CoverageDocument:
    """The coverage of all predictors from one run to the other."""
    return CoverageDocument(
        program=reference.program,
        training=training.args,
        reference=reference.args,
        predictors=measure_coverage(training, reference),
        unlisted=unlisted_share(reference),
    )
