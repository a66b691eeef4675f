"""Which states compete for cache sets, which of them placement can help, and where they may start.

The algorithm is that of Yardımcı and Kaeli, sections 3.2 and 3.3, resolved when the plan is made:
states that conflict are placed together, at starts that are spread over the sets. Three kinds of
states are left alone: those whose lines do not fit into the cache (a capacity problem), streams,
which do not reuse lines while the cache holds them, and objects over a quarter of the cache.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp

from halo.plan.model import ALL_SLOTS, PageLayout
from halo.profile.sections.conflicts import OUTSIDE, SLOTS, Conflicts, RecordedState

STREAM_FAR = 0.9  # share of reuses beyond the window from which a state is a stream
PARTNER_SHARE = 0.05  # of a state's edges, for a partner to be placed with it
WINDOWS = (48, 32, 16, 8)  # numbers of slots, beside all
MAX_WASTE = 0.10  # of a group's memory, for a window
MIN_GAIN = 0.05  # by which a window has to reduce the predicted cost


@dataclass(frozen=True)
class Competitor:
    """States that are placed together, as ids of `Conflicts.states`, and where they may start."""

    states: tuple[int, ...]
    layout: PageLayout
    predicted: float  # misses by conflict, under that layout


def is_stream(state: RecordedState) -> bool:
    """Whether the state hardly reuses a line while a cache of twice the size holds it."""
    return state.far_share >= STREAM_FAR


def may_be_placed(conflicts: Conflicts, at: int) -> bool:
    """Whether placement can spare the state's conflict misses (see the module)."""
    state, lines = conflicts.states[at], conflicts.cache.sets * conflicts.cache.ways
    fits = 0 < state.size <= conflicts.cache_bytes // 4
    return at != OUTSIDE and fits and not is_stream(state) and conflicts.distance.get(at, 0) < lines


def competing(conflicts: Conflicts, least: float) -> list[list[int]]:
    """Sets of states that conflict with each other, those with the most misses first.

    A state takes part if it has at least the share `least` of all misses by conflict, or is a
    partner of one that has. Empty if the conflict misses of all states are a smaller share.
    """
    states = conflicts.states
    misses = sum(state.misses for state in states)
    if sum(state.conflict for state in states) < least * misses or not misses:
        return []
    core = {
        at
        for at, state in enumerate(states)
        if state.conflict >= least * misses and may_be_placed(conflicts, at)
    }
    links = [
        (pair.first, pair.second)
        for pair in conflicts.pairs
        if pair.first in core
        and may_be_placed(conflicts, pair.second)
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
    """Chooses the slots of each set of states, greedily, by the predicted conflict misses."""
    model = _Model(conflicts)
    masks = {at: ALL_SLOTS for part in parts for at in part}
    for _ in range(2):
        for part in parts:
            choices = [masks | dict.fromkeys(part, mask) for mask in _masks_for(conflicts, part)]
            costs = [model.cost(choice, masks) for choice in choices]
            best = costs.index(min(costs))
            if costs[best] <= (1 - MIN_GAIN) * costs[0]:
                masks = choices[best]
    return [
        Competitor(
            tuple(part),
            layout_of(conflicts, part, masks[part[0]]),
            model.cost(masks, part),
        )
        for part in parts
    ]


def layout_of(conflicts: Conflicts, part: Sequence[int], lines: int) -> PageLayout:
    """The layout whose hot lines are in the slots `lines`: blocks start before their hot line."""
    heaviest = max(part, key=lambda at: conflicts.states[at].accesses)
    way = conflicts.way_bytes
    behind = conflicts.states[heaviest].hot_line * conflicts.machine.line * SLOTS // way % SLOTS
    starts = rotate(lines, -behind)
    return PageLayout(starts=starts, way_bytes=way, line_start=_starts_at_line(conflicts, part))


def _starts_at_line(conflicts: Conflicts, part: Sequence[int]) -> bool:
    """Whether blocks should start at a line: if one line of each is hot, and little is wasted.

    Else the hot part of some blocks is in two lines, which takes more of the cache.
    """
    states, line = [conflicts.states[at] for at in part], conflicts.machine.line
    return all(
        it.hot_lines <= 1 and it.size and -it.size % line <= MAX_WASTE * it.size for it in states
    ) and any(it.size % line for it in states)


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


def _masks_for(conflicts: Conflicts, part: Sequence[int]) -> list[int]:
    """All slots, and the windows whose waste of memory is small."""
    block = min(conflicts.states[at].size for at in part)
    found = [ALL_SLOTS]
    for width in WINDOWS:
        if _waste(conflicts, block, width) <= MAX_WASTE:
            window = (1 << width) - 1
            found += [rotate(window, first) for first in range(0, SLOTS, SLOTS // 8)]
    return found


def _waste(conflicts: Conflicts, block: int, width: int) -> float:
    """The share of memory that a window leaves unused. Blocks of a way need only start in it."""
    if block < conflicts.way_bytes:
        return SLOTS / width - 1
    return conflicts.way_bytes / width / block


class _Model:
    """Predicts conflict misses from the interference of states, whatever the recorded layout.

    A state has at most its hot lines between two uses of another. More were recorded if objects
    did not start at a line, so that a hot part was in two.
    """

    def __init__(self, conflicts: Conflicts) -> None:
        self._conflicts = conflicts
        self._between: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        for (first, second), lines in conflicts.interference.items():
            state = conflicts.states[second]
            hot = state.peak * max(1, state.hot_lines) if second != OUTSIDE else lines
            self._between[first].append((second, min(lines, hot)))

    def cost(self, masks: Mapping[int, int], part: Iterable[int]) -> float:
        """The predicted conflict misses of these states."""
        return sum(self._misses(masks, at) for at in part)

    def _misses(self, masks: Mapping[int, int], at: int) -> float:
        """Expected conflict misses: the reuses, times the share at which the set is overfull.

        The lines of a state are spread over its slots. A set that gets at most ways - 1 of them is
        not overfull, as they are spread evenly; else their number is taken as Poisson distributed.
        """
        load = [0.0] * SLOTS
        sets_of_slot = self._conflicts.cache.sets / SLOTS
        for second, lines in self._between[at]:
            slots = _slots(masks.get(second, ALL_SLOTS))
            for slot in slots:
                load[slot] += lines / (len(slots) * sets_of_slot)
        state, ways = self._conflicts.states[at], self._conflicts.cache.ways
        mine = _slots(masks.get(at, ALL_SLOTS))
        uses = state.reuses * self._conflicts.sampling
        return uses * sum(_overfull(load[slot], ways) for slot in mine) / len(mine)


def _overfull(load: float, ways: int) -> float:
    """The probability of at least `ways` lines in a set with that mean."""
    if load <= ways - 1:
        return 0.0
    term, below = exp(-load), 0.0
    for lines in range(ways):
        below += term
        term *= load / (lines + 1)
    return max(0.0, 1 - below)


@cache
def _slots(mask: int) -> list[int]:
    return [slot for slot in range(SLOTS) if mask >> slot & 1]
