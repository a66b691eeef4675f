"""Which states compete for cache sets, which of them placement can help, and where they may start.

The algorithm is that of Yardımcı and Kaeli, sections 3.2 and 3.3, resolved when the plan is made:
states that conflict are placed together, at starts that are spread over the sets. Three kinds of
states are left alone: those whose lines do not fit into the cache (a capacity problem), streams,
which do not reuse lines while the cache holds them, and objects over a quarter of the cache.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from halo.plan.model import ALL_SLOTS, PageLayout
from halo.record.profile.sections.conflicts import OUTSIDE, SLOTS, Conflicts, RecordedState
from halo.studies.conflicts.memory import may_start_at_lines, may_start_in, peak_bytes
from halo.studies.conflicts.prediction import Prediction

STREAM_FAR = 0.9  # share of reuses beyond the window from which a state is a stream
PARTNER_SHARE = 0.05  # of a state's edges, for a partner to be placed with it
WINDOWS = (48, 32, 16, 8)  # numbers of slots, beside all
MIN_GAIN = 0.05  # by which a window has to reduce the prediction
_TIE = 1e-6  # misses: predictions that differ by less are equal

MIN_CONFLICT_SHARE = 0.005
"""The share of all misses that conflicts, and those of a state to be placed, have at least."""


@dataclass(frozen=True)
class Competitor:
    """States that are placed together, as ids of `Conflicts.states`, and where they may start."""

    states: tuple[int, ...]
    layout: PageLayout
    predicted: float | None = None  # misses by conflict under that layout, if predicted
    spread: float | None = None  # the same if all parts start in all slots


def is_stream(state: RecordedState) -> bool:
    """Whether the state hardly reuses a line while a cache of twice the size holds it."""
    return state.far_share >= STREAM_FAR


def may_be_placed(conflicts: Conflicts, at: int) -> bool:
    """Whether placement can spare the state's conflict misses (see the module)."""
    state, lines = conflicts.states[at], conflicts.cache.sets * conflicts.cache.ways
    fits = 0 < state.size <= conflicts.cache_bytes // 4
    return at != OUTSIDE and fits and not is_stream(state) and conflicts.distance.get(at, 0) < lines


def unplaceable_contexts(conflicts: Conflicts) -> set[int]:
    """Contexts most of whose memory, at its peak, is of streams or of too many lines.

    All sizes of a context share a group, so its other states are not placed, either. Objects over a
    quarter of the cache do not count: the plan forwards them.
    """
    left: defaultdict[int, int] = defaultdict(int)
    for at, state in enumerate(conflicts.states):
        if state.context is not None and state.size <= conflicts.cache_bytes // 4:
            size = peak_bytes(state)
            left[state.context] += size if may_be_placed(conflicts, at) else -size
    return {context for context, balance in left.items() if balance < 0}


def sharing_pages(conflicts: Conflicts, contexts: Iterable[int]) -> list[int]:
    """The states whose blocks are in the pages of a group of these contexts."""
    members = set(contexts)
    return [
        at
        for at, state in enumerate(conflicts.states)
        if state.context in members and state.size <= conflicts.cache_bytes // 4
    ]


def competing(conflicts: Conflicts, least: float) -> list[list[int]]:
    """Sets of states that conflict with each other, those with the most misses first.

    A state takes part if it has conflict misses of at least the share `least` of all misses, or is
    a partner of one that has. Empty if the conflict misses of all states are a smaller share.
    """
    states = conflicts.states
    misses = sum(state.misses for state in states)
    if sum(state.conflict for state in states) < least * misses or not misses:
        return []
    apart = unplaceable_contexts(conflicts)
    placeable = {
        at
        for at, state in enumerate(states)
        if may_be_placed(conflicts, at) and state.context not in apart
    }
    core = {at for at in placeable if states[at].conflict >= max(1, least * misses)}
    links = [
        (pair.first, pair.second)
        for pair in conflicts.pairs
        if pair.first in core
        and pair.second in placeable
        and pair.conflict >= PARTNER_SHARE * conflicts.cache.ways * states[pair.first].conflict
    ]
    found = _components(core, links)
    return sorted(found, key=lambda part: -sum(states[at].conflict for at in part))


def _components(nodes: Iterable[int], links: Sequence[tuple[int, int]]) -> list[list[int]]:
    neighbours: defaultdict[int, set[int]] = defaultdict(set)
    for first, second in links:
        neighbours[first].add(second)
        neighbours[second].add(first)
    seen: set[int] = set()
    found = []
    for node in sorted(nodes):
        if node in seen:
            continue
        part, todo = [], [node]
        seen.add(node)
        while todo:
            at = todo.pop()
            part.append(at)
            fresh = neighbours[at] - seen
            seen |= fresh
            todo += sorted(fresh)
        found.append(sorted(part))
    return found


def place(conflicts: Conflicts, parts: Sequence[Sequence[int]]) -> list[Competitor]:
    """Chooses the slots of each set of states, greedily, by the predicted conflict misses.

    A window is chosen only if it reduces the prediction for all parts by `MIN_GAIN`.
    """
    model = Prediction(conflicts, parts)
    spreads = [model.misses_of(number) for number in range(len(parts))]
    masks = [ALL_SLOTS] * len(parts)
    for _ in range(2):
        for number, part in enumerate(parts):
            model.set_mask(number, ALL_SLOTS)
            spread, masks[number] = model.total(), ALL_SLOTS
            windows = _windows(conflicts, part) if model.affected(number) else []
            best = (1 - MIN_GAIN) * spread - _TIE
            for mask in windows:
                model.set_mask(number, mask)
                if model.total() <= best:
                    best, masks[number] = model.total() - _TIE, mask
            model.set_mask(number, masks[number])
    return [
        Competitor(
            states=tuple(part),
            layout=layout_of(conflicts, part, masks[number]),
            predicted=model.misses_of(number),
            spread=spreads[number],
        )
        for number, part in enumerate(parts)
    ]


def heaviest(conflicts: Conflicts, part: Sequence[int]) -> int:
    """The state with the most accesses, of those that reuse lines if there are any."""
    used = _reused(conflicts, part)
    return max(used, key=lambda at: conflicts.states[at].accesses)


def _reused(conflicts: Conflicts, part: Sequence[int]) -> Sequence[int]:
    states = conflicts.states
    return [at for at in part if may_be_placed(conflicts, at) and states[at].reuses] or part


def layout_of(conflicts: Conflicts, part: Sequence[int], lines: int) -> PageLayout:
    """The layout whose hot lines are in the slots `lines`: blocks start before their hot line.

    The part is all states whose blocks are in the group's pages.
    """
    states = conflicts.states
    used = _reused(conflicts, part)
    way, line = conflicts.way_bytes, conflicts.machine.line
    behind = states[heaviest(conflicts, part)].hot_line * line * SLOTS // way % SLOTS
    # Of objects with more hot lines than one, some would have their hot part in one line more.
    line_start = (
        all(states[at].hot_lines <= 1 for at in used)
        and any(states[at].size % line for at in used)
        and may_start_at_lines(conflicts, part)
    )
    return PageLayout(starts=rotate(lines, -behind), way_bytes=way, line_start=line_start)


def rotate(mask: int, by: int) -> int:
    """The mask with each slot moved `by` slots further on, around the end of the way."""
    by %= SLOTS
    return (mask << by | mask >> (SLOTS - by)) & ALL_SLOTS


def table_mask(conflicts: Conflicts, part: Sequence[int]) -> int:
    """The slots that the partners' lines did not use in the recording: the paper's table.

    Slots with at least an average share of the partners' uses are forbidden, unless all are.
    """
    uses = [0.0] * SLOTS
    for pair in conflicts.pairs:
        if pair.first in part and pair.conflict:
            slots = conflicts.states[pair.second].by_slot
            for slot, count in enumerate(slots):
                uses[slot] += pair.conflict * count / max(1, sum(slots))
    mean = sum(uses) / SLOTS
    return sum(1 << slot for slot, count in enumerate(uses) if count < mean) or ALL_SLOTS


def _windows(conflicts: Conflicts, part: Sequence[int]) -> list[int]:
    """The masks of some slots in a row whose waste of memory is small."""
    return [
        rotate((1 << width) - 1, first)
        for width in WINDOWS
        if may_start_in(conflicts, part, width)
        for first in range(0, SLOTS, SLOTS // 8)
    ]
