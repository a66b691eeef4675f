"""Context ids as ranges, so that a list of very many of them stays short."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain


@dataclass(frozen=True)
class ContextIds:
    """Distinct context ids, ascending, as ranges of first and last; `count` of them in all.

    The ranges may have been cut off: then they have fewer ids than `count`.
    """

    count: int = 0
    ranges: tuple[tuple[int, int], ...] = ()

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(range(first, last + 1) for first, last in self.ranges)

    def __len__(self) -> int:
        return self.count

    @property
    def is_complete(self) -> bool:
        """Whether every one of the ids is known."""
        return sum(last - first + 1 for first, last in self.ranges) == self.count

    def cut(self, ranges: int) -> ContextIds:
        """The same number of ids, of which only those of the first ranges are known."""
        return ContextIds(self.count, self.ranges[:ranges])


NO_IDS = ContextIds()


def context_ids(ids: Iterable[int]) -> ContextIds:
    """These ids, each counted once."""
    ranges: list[tuple[int, int]] = []
    count = 0
    for at in sorted(set(ids)):
        count += 1
        if ranges and ranges[-1][1] == at - 1:
            ranges[-1] = ranges[-1][0], at
        else:
            ranges.append((at, at))
    return ContextIds(count, tuple(ranges))
