"""The section of conflicts: which objects compete for the same sets of the first cache."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from halo.base.errors import BadProfile
from halo.base.schema.document import Damaged, convert
from halo.base.schema.simulation import Level, SimulatedMachine
from halo.base.schema.values import Count
from halo.record.profile.checks import Checks
from halo.record.profile.sections.section import Part, Section

OUTSIDE = 0  # the state of all memory outside tracked objects
SLOTS = 64
MAX_LINES = 16
GRANULE = 8  # bytes, of which block sizes are multiples
HOT_SHARE = 0.9


class RecordedState(Struct, frozen=True, kw_only=True):
    """The counts of a state, which is an allocation context and a block size.

    Misses are those of lines in the first cache, without prefetching. `reuses` and `far` are
    sampled: uses of a line with at least as many other lines since its last use as the cache has
    ways; within the window, and beyond it.
    """

    context: Count | None = None  # None: outside tracked objects
    size: Count = 0  # bytes, a multiple of 8; 0: the other sizes of the context
    accesses: Count
    compulsory: Count
    capacity: Count
    conflict: Count
    objects: Count
    peak: Count  # objects alive at the same time
    reuses: Count
    far: Count
    by_line: tuple[Count, ...]  # accesses by line of the object; the sixteenth: all further lines
    by_slot: tuple[Count, ...]  # uses of lines by slot, a 64th of the sets

    @property
    def misses(self) -> int:
        return self.compulsory + self.capacity + self.conflict

    @property
    def far_share(self) -> float:
        """The share of reuses, 0 to 1, at which more lines were used than twice the cache holds."""
        return self.far / max(1, self.far + self.reuses)

    @property
    def hot_line(self) -> int:
        """The line of the object with the most accesses."""
        return max(range(len(self.by_line)), key=lambda at: self.by_line[at], default=0)

    @property
    def hot_lines(self) -> int:
        """The fewest lines of the object that have nine tenths of the accesses."""
        left = HOT_SHARE * sum(self.by_line)
        for number, count in enumerate(sorted(self.by_line, reverse=True)):
            if left <= 0:
                return number
            left -= count
        return len(self.by_line)


class Pair(NamedTuple):
    """Counts of an ordered pair of states.

    Conflict misses of the first state, counted once for each line of the second in the set;
    collisions are the same with capacity misses; `lines` is the number of lines of the second that
    were used between two uses of a line of the first, summed over its `reuses`.
    """

    first: Count
    second: Count
    conflict: Count
    collision: Count
    lines: Count


class Conflicts(Struct, frozen=True, dict=True):
    """Conflicts in the first cache of a machine; `states[OUTSIDE]` has no context."""

    machine: SimulatedMachine
    states: tuple[RecordedState, ...]
    pairs: tuple[Pair, ...]
    outside_slots: tuple[Count, ...]  # conflict misses by slot with a line outside in the set
    states_left_out: Count
    pairs_left_out: Count
    sampling: Count = 1  # the number of uses that each of `reuses`, `far` and `lines` stands for

    @property
    def cache(self) -> Level:
        return self.machine.caches[0]

    @property
    def way_bytes(self) -> int:
        """The distance of addresses that belong to the same set."""
        return self.cache.sets * self.machine.line

    @property
    def cache_bytes(self) -> int:
        return self.way_bytes * self.cache.ways

    @cached_property
    def interference(self) -> dict[tuple[int, int], float]:
        """The mean number of lines of the second state between uses of a line of the first."""
        return {
            (pair.first, pair.second): pair.lines / self.states[pair.first].reuses
            for pair in self.pairs
            if pair.lines
        }

    @cached_property
    def distance(self) -> dict[int, float]:
        """By state: the mean number of lines, of all states, between two uses of one of its own."""
        sums: defaultdict[int, float] = defaultdict(float)
        for (first, _), lines in self.interference.items():
            sums[first] += lines
        return dict(sums)


class ConflictsSection(Section[Conflicts]):
    """Absent unless `halo record --conflicts` records it."""

    key = "conflicts"

    def read(self, checks: Checks, contexts: int, frames: int) -> Conflicts:
        try:
            found = convert(checks.document[self.key], Conflicts, self.key)
            _check(found, contexts)
        except Damaged as error:
            checks.bad(str(error))
        return found

    def write(self, value: Conflicts) -> dict[str, Any]:
        document: dict[str, Any] = to_builtins(value)
        for key in ("context", "size"):
            del document["states"][OUTSIDE][key]
        return document

    def combine(self, found: Sequence[tuple[Part, Conflicts]]) -> Conflicts:
        """Adds up the conflicts of several processes, each with a cache of its own."""
        machine, sampling = found[0][1].machine, found[0][1].sampling
        if any((value.machine, value.sampling) != (machine, sampling) for _, value in found):
            raise BadProfile(
                "The recordings have conflicts of different machines; record them with the same"
                " machine."
            )
        merged = _Merged()
        for part, value in found:
            merged.add(part, value)
        return Conflicts(
            machine=machine,
            sampling=sampling,
            states=merged.states(),
            pairs=merged.pairs(),
            outside_slots=_added(value.outside_slots for _, value in found),
            states_left_out=sum(value.states_left_out for _, value in found),
            pairs_left_out=sum(value.pairs_left_out for _, value in found),
        )

    def repeated(self, value: Conflicts, times: int) -> Conflicts:
        def scaled(counts: Sequence[int]) -> tuple[int, ...]:
            return tuple(times * count for count in counts)

        return replace(
            value,
            states=tuple(
                replace(
                    state,
                    **{name: times * getattr(state, name) for name in _SUMS},
                    **{name: scaled(getattr(state, name)) for name in _LISTS},
                )
                for state in value.states
            ),
            pairs=tuple(Pair(pair.first, pair.second, *scaled(pair[2:])) for pair in value.pairs),
            outside_slots=scaled(value.outside_slots),
        )


CONFLICTS = ConflictsSection()

_StateKey = tuple[int, int]  # context or -1, size
_LISTS = ("by_line", "by_slot")
_SUMS = tuple(
    name
    for name in RecordedState.__struct_fields__
    if name not in ("context", "size", "peak", *_LISTS)
)


class _Merged:
    def __init__(self) -> None:
        self._states: defaultdict[_StateKey, list[RecordedState]] = defaultdict(list)
        self._pairs: defaultdict[tuple[_StateKey, _StateKey], list[Pair]] = defaultdict(list)

    def add(self, part: Part, value: Conflicts) -> None:
        keys = [
            (-1 if state.context is None else part.contexts[state.context], state.size)
            for state in value.states
        ]
        for key, state in zip(keys, value.states, strict=True):
            self._states[key].append(state)
        for pair in value.pairs:
            self._pairs[keys[pair.first], keys[pair.second]].append(pair)

    def states(self) -> tuple[RecordedState, ...]:
        return tuple(_sum_states(key, self._states[key]) for key in sorted(self._states))

    def pairs(self) -> tuple[Pair, ...]:
        index = {key: at for at, key in enumerate(sorted(self._states))}
        found = [
            Pair(index[first], index[second], *(sum(it) for it in zip(*rows, strict=True)))
            for (first, second), pairs in self._pairs.items()
            if (rows := [pair[2:] for pair in pairs])
        ]
        return tuple(sorted(found))


def _sum_states(key: _StateKey, states: list[RecordedState]) -> RecordedState:
    """The peak is that of one process: a forked one begins with the objects of its parent."""
    context, size = key
    return RecordedState(
        context=None if context < 0 else context,
        size=size,
        by_line=_added(state.by_line for state in states),
        by_slot=_added(state.by_slot for state in states),
        peak=max(state.peak for state in states),
        **{name: sum(getattr(state, name) for state in states) for name in _SUMS},
    )


def _added(lists: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The sums of lists of counts, which lack zeros at their ends."""
    return tuple(map(sum, zip_longest(*lists, fillvalue=0)))


def _check(found: Conflicts, contexts: int) -> None:
    """Raises `Damaged` if parts of the section contradict each other."""
    states, pairs = found.states, found.pairs
    if not states or states[OUTSIDE].context is not None:
        raise Damaged("the first state of conflicts is not that of memory outside objects")
    if not (found.cache.sets and found.cache.ways and found.machine.line):
        raise Damaged("the first cache of conflicts has no sets, no ways or no bytes in a line")
    if not found.sampling:
        raise Damaged("conflicts have a sampling of 0")
    if any(state.size % GRANULE for state in states):
        raise Damaged(f"a size of conflicts is not a multiple of {GRANULE}")
    if any(len(state.by_line) > MAX_LINES for state in states):
        raise Damaged(f"a state of conflicts has more than {MAX_LINES} lines")
    if any(pair.collision < pair.conflict for pair in pairs):
        raise Damaged("a pair of conflicts has more conflicts than collisions")
    keys = [(state.context, state.size) for state in states[1:]]
    if any(context is None or context >= contexts for context, _ in keys):
        raise Damaged("a context of conflicts is missing or out of range")
    if len(set(keys)) < len(keys):
        raise Damaged("conflicts have a state twice")
    slots = [found.outside_slots, *(state.by_slot for state in states)]
    if any(len(counts) > SLOTS for counts in slots):
        raise Damaged(f"conflicts have more than {SLOTS} slots")
    if any(max(pair.first, pair.second) >= len(states) for pair in pairs):
        raise Damaged("a pair of conflicts names a state that is missing")
    if len({(pair.first, pair.second) for pair in pairs}) < len(pairs):
        raise Damaged("conflicts have a pair twice")
    if any(pair.lines and not states[pair.first].reuses for pair in pairs):
        raise Damaged("conflicts have lines between uses of a state without reuses")
    misses = sum(state.conflict for state in states)
    complete = not found.states_left_out and not found.pairs_left_out
    if complete and sum(pair.conflict for pair in pairs) != found.cache.ways * misses:
        raise Damaged("the pairs of conflicts do not add up to the conflict misses times the ways")
