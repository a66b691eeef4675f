"""Prints conflicts and state coverage: sentences, and tables of states, pairs and predictors."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from halo.base.console.terminal import (
    TextColumn,
    TextGrid,
    TextRow,
    make_console,
    show_grid,
    show_prose,
)
from halo.record.profile import Conflicts, Profile
from halo.record.profile.sections.conflicts import OUTSIDE, RecordedState
from halo.studies.conflicts.coverage_document import CoverageDocument
from halo.studies.conflicts.document import CompetingPair
from halo.studies.conflicts.fit import misfit
from halo.studies.conflicts.names import StateName, StateNames, label, name_states
from halo.studies.conflicts.ranking import (
    conflict_share,
    missed,
    obstacle,
    outside_share,
    ranked_pairs,
    ranked_states,
    slots_used,
)


def show_conflicts(profile: Profile, conflicts: Conflicts, path: Path, rows: int) -> None:
    """Prints the misses, that number of states and of pairs, and what to do next to stdout."""
    console = make_console()
    show_prose(console, opening(conflicts))
    states = ranked_states(conflicts)[:rows]
    pairs = [pair for pair in ranked_pairs(conflicts) if pair.misses][:rows]
    named = {*states, *(pair.first for pair in pairs), *(pair.second for pair in pairs)}
    names = name_states(profile, conflicts, sorted(named))
    if states:
        show_grid(console, states_table(conflicts, names, states))
    if pairs:
        show_grid(console, pairs_table(conflicts, names, pairs))
    console.print()
    for sentence in (*left_out(conflicts), closing(conflicts, path)):
        show_prose(console, sentence)


def opening(conflicts: Conflicts) -> str:
    """The cache, its misses by class, and the shares of conflicts and of memory outside."""
    cache, misses = conflicts.cache, missed(conflicts)
    sentence = (
        f"{cache.name} of {cache.sets} sets x {cache.ways} ways ({conflicts.cache_bytes:,} bytes,"
        f" lines of {conflicts.machine.line}) has {misses.total:,} misses: {misses.compulsory:,}"
        f" compulsory, {misses.capacity:,} capacity and {misses.conflict:,} conflict misses"
    )
    if not misses.conflict:
        return f"{sentence}."
    return (
        f"{sentence}, which are {conflict_share(conflicts):.1%}; at {outside_share(conflicts):.1%}"
        " of these, memory outside tracked objects was in the set."
    )


def states_table(conflicts: Conflicts, names: StateNames, numbers: Sequence[int]) -> TextGrid:
    """One row for each of these states."""
    classes = ("compulsory", "capacity", "conflict")
    use = ("peak objects", "hot lines", "slots of 90%", "far")
    return TextGrid(
        [
            TextColumn("state", figures=True),
            TextColumn("objects allocated by", prose=True),
            *(TextColumn(name, figures=True) for name in ("size", "accesses", *classes, *use)),
        ],
        [_state_row(number, conflicts.states[number], names[number]) for number in numbers],
        f"States, with misses by class ({len(numbers):,} of {len(conflicts.states):,})",
    )


def _state_row(number: int, state: RecordedState, name: StateName) -> TextRow:
    """Memory outside objects has no lines of objects, and its reuses are not sampled."""
    counts = (state.accesses, state.compulsory, state.capacity, state.conflict)
    peak, lines, far = f"{state.peak:,}", str(state.hot_lines), f"{state.far_share:.0%}"
    if number == OUTSIDE:
        peak = lines = far = ""
    figures = [f"{count:,}" for count in counts]
    return TextRow(
        (str(number), name.site, name.size, *figures, peak, lines, str(slots_used(state)), far)
    )


def pairs_table(
    conflicts: Conflicts, names: StateNames, pairs: Sequence[CompetingPair]
) -> TextGrid:
    """One row for each of these pairs."""

    def named(number: int) -> str:
        return label(number, names[number])

    causes = sum(1 for pair in conflicts.pairs if pair.conflict)
    return TextGrid(
        [
            TextColumn("first state", prose=True),
            TextColumn("second state", prose=True),
            TextColumn("conflict misses", figures=True),
            TextColumn("lines between uses", figures=True),
        ],
        [
            TextRow(
                (named(pair.first), named(pair.second), f"{pair.misses:,.0f}", f"{pair.lines:.1f}")
            )
            for pair in pairs
        ],
        "Pairs: conflict misses of the first state that the second causes, and mean lines of the"
        f" second between two uses of a line of the first ({len(pairs):,} of {causes:,})",
    )


def left_out(conflicts: Conflicts) -> list[str]:
    """What the recorder left out, if anything."""
    states, pairs = conflicts.states_left_out, conflicts.pairs_left_out
    if not states and not pairs:
        return []
    return [
        f"The recorder left out {states:,} states with fewer misses, and {pairs:,} pairs; their"
        " misses are not in these figures."
    ]


def closing(conflicts: Conflicts, path: Path) -> str:
    """What to do next."""
    why = obstacle(conflicts)
    if not why:
        return f"Next, make a plan: halo plan {shlex.quote(str(path))} --strategy conflict"
    if why == misfit(conflicts):
        return f"No plan can follow: {why}; record conflicts of another machine."
    return f"{why[0].upper()}{why[1:]}: placement by cache set cannot help this program."


def show_coverage(document: CoverageDocument) -> None:
    """Prints one row for each predictor to stdout."""
    console = make_console()
    show_grid(console, coverage_table(document))
    if document.unlisted:
        console.print()
        show_prose(
            console,
            f"The profile does not list the sizes of {document.unlisted:.1%} of the reference run's"
            " allocations; predictors with a size leave them out.",
        )


def coverage_table(document: CoverageDocument) -> TextGrid:
    """One row for each predictor."""
    figures = ("training run", "both", "reference run", "coverage", "allocations")
    return TextGrid(
        [TextColumn("predictor"), *(TextColumn(name, figures=True) for name in figures)],
        [
            TextRow(
                (
                    found.predictor,
                    f"{found.training:,}",
                    f"{found.both:,}",
                    f"{found.reference:,}",
                    f"{found.coverage:.1%}",
                    f"{found.allocations:.1%}",
                )
            )
            for found in document.predictors
        ],
        "States by run, their coverage, and the reference run's allocations in states of both",
    )
