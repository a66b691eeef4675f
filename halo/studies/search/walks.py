"""How many return addresses the runtime would read for a grouping, before any plan is made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from halo.record.profile import Profile
from halo.studies.search.draft import Draft

_FORWARDED = -1


class Walks:
    """The recorded contexts, by the call stacks that a plan's decision trie is made of."""

    def __init__(self, stacks: Sequence[tuple[int, ...]], allocations: Sequence[int]) -> None:
        """`stacks` has the frames of each context, the innermost first."""
        self._allocations = np.array(allocations, np.int64)
        self._prefixes = [
            _numbers([stack[:depth] for stack in stacks])
            for depth in range(1, max(map(len, stacks), default=0) + 1)
        ]

    @classmethod
    def of(cls, profile: Profile) -> Walks:
        stacks = [tuple(profile.stack(at)) for at in range(len(profile.contexts))]
        return cls(stacks, [it.allocations for it in profile.contexts])

    def further_steps(self, draft: Draft) -> int:
        """Return addresses beyond the caller's that all recorded allocations need together.

        A walk ends at the depth from which all contexts with the same innermost frames are in one
        group, or in none.
        """
        groups = np.full(len(self._allocations), _FORWARDED, np.int64)
        for number, group in enumerate(draft.groups):
            groups[list(group.contexts)] = number
        undecided = np.ones(len(groups), bool)
        steps = 0
        for prefixes in self._prefixes:
            undecided &= ~_uniform(groups, prefixes)
            steps += int(self._allocations[undecided].sum())
        return steps


def _numbers(prefixes: list[tuple[int, ...]]) -> npt.NDArray[np.int64]:
    """A number for each context, equal for equal prefixes."""
    known: dict[tuple[int, ...], int] = {}
    return np.array([known.setdefault(it, len(known)) for it in prefixes], np.int64)


def _uniform(
    groups: npt.NDArray[np.int64], prefixes: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which contexts are in the same group as all others with their prefix."""
    count = int(prefixes.max()) + 1
    low = np.full(count, len(groups), np.int64)
    high = np.full(count, _FORWARDED - 1, np.int64)
    np.minimum.at(low, prefixes, groups)
    np.maximum.at(high, prefixes, groups)
    same: npt.NDArray[np.bool_] = (low == high)[prefixes]
    return same
