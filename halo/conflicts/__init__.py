"""Conflicts in the first cache: which objects compete, and which states recur in another run."""

from halo.conflicts.coverage import check_same_program, measure_coverage, state_coverage
from halo.conflicts.document import conflicts_document, coverage_document
from halo.conflicts.names import StateNames, label, name_states
from halo.conflicts.ranking import (
    MIN_CONFLICT_SHARE,
    conflict_share,
    conflicting_objects,
    conflicts_of,
    is_placeable,
    missed,
    outside_share,
    ranked_pairs,
    ranked_states,
    slots_used,
)
from halo.conflicts.table import show_conflicts, show_coverage

__all__ = [
    "MIN_CONFLICT_SHARE",
    "StateNames",
    "check_same_program",
    "conflict_share",
    "conflicting_objects",
    "conflicts_document",
    "conflicts_of",
    "coverage_document",
    "is_placeable",
    "label",
    "measure_coverage",
    "missed",
    "name_states",
    "outside_share",
    "ranked_pairs",
    "ranked_states",
    "show_conflicts",
    "show_coverage",
    "slots_used",
    "state_coverage",
]
