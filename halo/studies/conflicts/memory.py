"""The memory that a layout of pages wastes, over all blocks of a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from halo.record.profile.sections.conflicts import Conflicts, RecordedState

MAX_WASTE = 0.10  # of a group's memory


def peak_bytes(state: RecordedState) -> int:
    """The bytes of the state's blocks at their peak; 0 for the other sizes of a context."""
    return max(1, state.peak) * state.size


def may_start_at_lines(conflicts: Conflicts, part: Sequence[int]) -> bool:
    """Whether rounding blocks up to whole lines wastes little."""
    line = conflicts.machine.line
    return _wastes_little(conflicts, part, lambda size: -size % line / size)


def may_start_in(conflicts: Conflicts, part: Sequence[int], width: int) -> bool:
    """Whether a window of `width` slots wastes little. Blocks of a way need only start in it.

    Smaller blocks would leave all other slots unused.
    """
    way = conflicts.way_bytes
    if any(conflicts.states[at].size < way for at in part):
        return False
    return _wastes_little(conflicts, part, lambda size: way / width / size)


def _wastes_little(
    conflicts: Conflicts, part: Sequence[int], waste: Callable[[int], float]
) -> bool:
    """Whether the blocks of all states of the part, by their bytes, waste little.

    `waste` is that of a block size, as a share of the block. False if a size may be missing: that
    of a context's other sizes, or of a state that the recorder left out.
    """
    states = [conflicts.states[at] for at in part]
    if conflicts.states_left_out or not all(state.size for state in states):
        return False
    wasted = sum(waste(state.size) * peak_bytes(state) for state in states)
    return wasted <= MAX_WASTE * sum(peak_bytes(state) for state in states)
