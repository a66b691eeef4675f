"""Decides which classes to split, and which fields are cold, from access counts alone.

The algorithm is that of Chilimbi, Davidson and Larus, "Cache-conscious structure definition"
(PLDI 1999), the section on class splitting. Its symbols: LS is the number of all accesses to
fields, C that of classes with an accessed field, A the accesses to a class, F its fields. All
comparisons use integers, so that none depends on rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

LIVE_SHARE = 100
"""A class is live if A > LS / (100 C)."""
AGGRESSIVE, CONSERVATIVE = 2, 5
"""A field is cold if it has less than A / (2 F) accesses; marked conservatively, A / (5 F)."""
SMALLEST_CLASS, MIN_FIELDS = 8, 2
"""A class to split must have more bytes and fields than these."""
POINTER = 8
"""Bytes of the pointer to the cold part; the cold fields must be larger."""


@dataclass(frozen=True)
class FieldUse:
    """A field of a class: its bytes, and the accesses to it."""

    bytes: int
    accesses: int


class Finding(Enum):
    """The outcome for a class."""

    SPLIT = "split"
    NOT_LIVE = "not live"
    TOO_SMALL = "too small"
    TOO_FEW_FIELDS = "too few fields"
    ALL_HOT = "no cold field"
    LITTLE_COLD = "too few cold bytes"
    TOO_WARM = "cold fields too warm"
    LIBRARY = "of a library"
    NO_SMALLER = "no smaller"


@dataclass(frozen=True)
class Decision:
    """The finding of a class, and for each of its fields whether it is cold.

    `divisor` is 2 or 5 if the fields were marked: a field is hot from A / (divisor F) accesses on.
    It is 0 if they were not marked; then no field is cold.
    """

    finding: Finding
    cold: tuple[bool, ...]
    divisor: int = 0

    @property
    def live(self) -> bool:
        return self.finding is not Finding.NOT_LIVE

    @property
    def split(self) -> bool:
        return self.finding is Finding.SPLIT


def decide_all(classes: Sequence[tuple[int, Sequence[FieldUse]]]) -> list[Decision]:
    """A decision for each class; a class is a pair of its bytes and its fields."""
    totals = [sum(field.accesses for field in fields) for _, fields in classes]
    accesses, accessed = sum(totals), sum(1 for total in totals if total)
    return [
        decide(size, fields, live=total * LIVE_SHARE * accessed > accesses)
        for (size, fields), total in zip(classes, totals, strict=True)
    ]


def decide(size: int, fields: Sequence[FieldUse], live: bool) -> Decision:
    """The decision for one class of `size` bytes."""
    if not live:
        return _unmarked(Finding.NOT_LIVE, fields)
    if size <= SMALLEST_CLASS:
        return _unmarked(Finding.TOO_SMALL, fields)
    if len(fields) <= MIN_FIELDS:
        return _unmarked(Finding.TOO_FEW_FIELDS, fields)
    cold = _mark(fields, AGGRESSIVE)
    if not any(cold):
        return Decision(Finding.ALL_HOT, cold, AGGRESSIVE)
    if not suffices(fields, cold):
        return Decision(Finding.LITTLE_COLD, cold, AGGRESSIVE)
    if _differs(fields, cold):
        return Decision(Finding.SPLIT, cold, AGGRESSIVE)
    cold = _mark(fields, CONSERVATIVE)
    finding = Finding.SPLIT if suffices(fields, cold) else Finding.TOO_WARM
    return Decision(finding, cold, CONSERVATIVE)


def _unmarked(finding: Finding, fields: Sequence[FieldUse]) -> Decision:
    return Decision(finding, (False,) * len(fields))


def _mark(fields: Sequence[FieldUse], divisor: int) -> tuple[bool, ...]:
    """Marks cold fields; at least one stays hot, as not all can be below half of their mean."""
    total = sum(field.accesses for field in fields)
    return tuple(field.accesses * divisor * len(fields) < total for field in fields)


def suffices(fields: Sequence[FieldUse], cold: Sequence[bool]) -> bool:
    """Whether the cold fields are larger than the pointer to them."""
    moved = sum(field.bytes for field, is_cold in zip(fields, cold, strict=True) if is_cold)
    return moved > POINTER


def _differs(fields: Sequence[FieldUse], cold: Sequence[bool]) -> bool:
    """Whether the normalised temperature differential is above a half.

    (hottest - 2 coldness) / hottest > 1/2, multiplied out.
    """
    pairs = list(zip(fields, cold, strict=True))
    hottest = max(field.accesses for field, is_cold in pairs if not is_cold)
    coldness = sum(field.accesses for field, is_cold in pairs if is_cold)
    return 2 * (hottest - 2 * coldness) > hottest
