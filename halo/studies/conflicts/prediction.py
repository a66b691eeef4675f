"""Predicts conflict misses from the interference of states, whatever the recorded layout."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from halo.plan.model import ALL_SLOTS
from halo.record.profile.sections.conflicts import OUTSIDE, SLOTS, Conflicts

_ROUNDING = 1e-9  # of a sum of lines

_Floats = NDArray[np.float64]


class Prediction:
    """The conflict misses of the states of `parts` if each part's lines are in slots of its own.

    Each part has a mask of slots, at first all; the lines of all other states are in all slots. A
    state has at most its hot lines between two uses of another. More were recorded if objects did
    not start at a line, so that a hot part was in two.
    """

    def __init__(self, conflicts: Conflicts, parts: Sequence[Sequence[int]]) -> None:
        self._sets_of_slot = conflicts.cache.sets / SLOTS
        self._ways = conflicts.cache.ways
        rows = [at for part in parts for at in part]
        row_of = {at: row for row, at in enumerate(rows)}
        part_of = {at: number for number, part in enumerate(parts) for at in part}
        unplaced = len(parts)
        self._part = np.array([part_of[at] for at in rows], dtype=np.intp)
        uses = [conflicts.states[at].reuses * conflicts.sampling for at in rows]
        self._uses = np.array(uses, dtype=np.float64)
        self._lines = np.zeros((len(rows), len(parts) + 1))  # between two uses, by part
        for (first, second), lines in conflicts.interference.items():
            if first in row_of:
                kept = min(lines, _hot_lines(conflicts, second))
                self._lines[row_of[first], part_of.get(second, unplaced)] += kept
        self._spread = np.array([_spread(ALL_SLOTS)] * (len(parts) + 1))  # by part
        self._misses = self._predict(np.arange(len(rows)))

    def misses_of(self, part: int) -> float:
        """The predicted conflict misses of the part's states."""
        return float(self._misses[self._part == part].sum())

    def total(self) -> float:
        return float(self._misses.sum())

    def affected(self, part: int) -> float:
        """The predicted conflict misses of all states that the part's mask can change."""
        return float(self._misses[self._affected(part)].sum())

    def set_mask(self, part: int, mask: int) -> None:
        rows = self._affected(part)
        self._spread[part] = _spread(mask)
        self._misses[rows] = self._predict(rows)

    def _affected(self, part: int) -> NDArray[np.intp]:
        """The rows of the part and of the states between whose uses its lines are used."""
        return np.flatnonzero((self._part == part) | (self._lines[:, part] > 0))

    def _predict(self, rows: NDArray[np.intp]) -> _Floats:
        """Expected misses by row: the reuses, times the share at which the set is overfull."""
        load = self._lines[rows] @ self._spread / self._sets_of_slot
        share = (overfull(load, self._ways) * self._spread[self._part[rows]]).sum(axis=1)
        found: _Floats = self._uses[rows] * share
        return found


def overfull(load: _Floats, ways: int) -> _Floats:
    """The probability of at least `ways` lines in a set, by their mean number `load`.

    A set that gets at most ways - 1 lines is not overfull, as they are spread evenly; else their
    number is taken as Poisson distributed.
    """
    term, below = np.exp(-load), np.zeros_like(load)
    for lines in range(ways):
        below += term
        term = term * load / (lines + 1)
    return np.where(load <= ways - 1 + _ROUNDING, 0.0, np.maximum(0.0, 1 - below))


def _hot_lines(conflicts: Conflicts, at: int) -> float:
    state = conflicts.states[at]
    return float("inf") if at == OUTSIDE else float(state.peak * max(1, state.hot_lines))


def _spread(mask: int) -> list[float]:
    """The share of lines by slot, if they are in the slots of the mask alone."""
    share = 1 / mask.bit_count()
    return [share if mask >> slot & 1 else 0.0 for slot in range(SLOTS)]
