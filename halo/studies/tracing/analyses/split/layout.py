"""The members and sizes of both parts of a split class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from halo.studies.tracing.analyses.split.counts import ClassUse
from halo.studies.tracing.analyses.split.rules import POINTER, Decision
from halo.studies.tracing.analyses.split.types import Leaf, is_spelt

LINE = 64
"""Bytes of a cache line."""
LARGEST_ALIGNMENT = 16
LENGTH = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class Parts:
    """The members of both parts in declared order; sizes include the pointer and padding."""

    hot: tuple[Leaf, ...]
    cold: tuple[Leaf, ...]
    hot_bytes: int
    cold_bytes: int


def parts_of(use: ClassUse, decision: Decision) -> Parts:
    """The parts; a nested structure stays whole if all of it is in one part."""
    hot, cold = _members(use, decision, False), _members(use, decision, True)
    return Parts(hot, cold, laid_out(hot, pointer=True), laid_out(cold, pointer=False))


def laid_out(members: Sequence[Leaf], pointer: bool) -> int:
    """Bytes of a structure of these members; `pointer`: with a pointer to the cold part."""
    at, strictest = 0, 1
    sizes = [(member.bytes, alignment(member)) for member in members]
    for size, align in [*sizes, (POINTER, POINTER)] if pointer else sizes:
        at = -(-at // align) * align + size
        strictest = max(strictest, align)
    return -(-at // strictest) * strictest


def alignment(member: Leaf) -> int:
    """The largest alignment in bytes that its offset and size allow; of an array, its elements'.

    Traces do not contain alignments. For simple types this is the compiler's; a packed field's is
    1.
    """
    unit = member.bytes
    for length in LENGTH.findall(member.type):
        unit //= max(int(length), 1)
    together = (unit or 1) | member.offset | LARGEST_ALIGNMENT
    return together & -together


def per_line(size: int) -> float:
    """The number of consecutive objects that fit in a cache line."""
    return LINE / max(size, 1)


def _members(use: ClassUse, decision: Decision, cold: bool) -> tuple[Leaf, ...]:
    placed = list(zip(use.leaves, decision.cold, strict=True))
    found: list[Leaf] = []
    whole: set[int] = set()
    for leaf, is_cold in placed:
        if is_cold is not cold or leaf.top in whole:
            continue
        beside = [(it, its) for it, its in placed if it.top == leaf.top]
        declared = use.declared.fields[leaf.top]
        apart = any(its is not cold or not it.inside(declared.name) for it, its in beside)
        if declared.name and is_spelt(declared.type) and not apart:
            whole.add(leaf.top)
            leaf = Leaf(declared.name, declared.type, declared.offset, declared.bytes, leaf.top)
        found.append(leaf)
    return tuple(found)
