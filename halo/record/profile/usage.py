"""Adds up allocation contexts and affinity edges of several profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from halo.record.profile.model import Context, Edge, Profile

_MAX_SIZES = 8


class UsageMerger:
    """Collects contexts by provisional node; sums counts and keeps extremes."""

    def __init__(self) -> None:
        self._contexts: list[Context] = []  # whose nodes and sizes are below
        self._nodes: list[int] = []
        self._sizes: list[dict[int, int]] = []
        self._numbers: dict[int, int] = {}

    def add(self, part: Profile, node_of: Sequence[int]) -> list[int]:
        """Adds a part's contexts; returns the provisional number of each."""
        numbers = []
        for context in part.contexts:
            node = node_of[context.node]
            number = self._numbers.get(node)
            if number is None:
                number = self._numbers[node] = len(self._contexts)
                self._contexts.append(context)
                self._nodes.append(node)
                self._sizes.append(dict(context.sizes))
            else:
                self._contexts[number] = combine(self._contexts[number], context)
                known = self._sizes[number]
                for size, count in dict(context.sizes).items():
                    known[size] = known.get(size, 0) + count
            numbers.append(number)
        return numbers

    def numbered(self, node_ids: Sequence[int]) -> tuple[tuple[Context, ...], list[int]]:
        """The contexts, hottest first, and the map from provisional to canonical ids."""
        whole = [
            replace(context, node=node_ids[node], sizes=top_sizes(sizes))
            for context, node, sizes in zip(self._contexts, self._nodes, self._sizes, strict=True)
        ]
        order = sorted(
            range(len(whole)),
            key=lambda at: (-whole[at].accesses, -whole[at].allocations, whole[at].node),
        )
        ids = [0] * len(whole)
        for new, old in enumerate(order):
            ids[old] = new
        return tuple(whole[old] for old in order), ids


class EdgeMerger:
    """Collects edges between provisional contexts; sums weights."""

    def __init__(self) -> None:
        self._weights: Counter[tuple[int, int]] = Counter()

    def add(self, part: Profile, context_of: Sequence[int]) -> None:
        for a, b, weight in part.edges:
            x, y = context_of[a], context_of[b]
            self._weights[(x, y) if x <= y else (y, x)] += weight

    def numbered(self, context_ids: Sequence[int]) -> tuple[Edge, ...]:
        """The edges between canonical contexts, in order."""
        edges = []
        for (a, b), weight in self._weights.items():
            x, y = context_ids[a], context_ids[b]
            edges.append((x, y, weight) if x <= y else (y, x, weight))
        return tuple(sorted(edges))


def combine(one: Context, other: Context) -> Context:
    """Both contexts as one, except for `sizes`; a context without objects has no minimum size."""
    lows = [context.min_size for context in (one, other) if context.allocations]
    return replace(
        one,
        allocations=one.allocations + other.allocations,
        frees=one.frees + other.frees,
        bytes=one.bytes + other.bytes,
        min_size=min(lows, default=0),
        max_size=max(one.max_size, other.max_size),
        peak_live_bytes=max(one.peak_live_bytes, other.peak_live_bytes),
        accesses=one.accesses + other.accesses,
        alignment=max(one.alignment, other.alignment),
    )


def top_sizes(sizes: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
    """Up to 8 (size, count) pairs, most frequent first, smaller sizes first among equals.

    A list of eight sizes may be incomplete: it is an estimate (docs/profile-format.md).
    """
    ranked = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ranked[:_MAX_SIZES])
