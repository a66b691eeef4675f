"""Symbolic values of 64 bits: what is known about the content of a register.

A value is a program of the closed grammar plus a constant. Terms outside the grammar stand for the
new object's address and for unknown numbers, so that addresses near them are recognised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from halo.locations.program import (
    MAX_OPERATIONS,
    Add,
    Constant,
    Frame,
    Image,
    Load,
    Operation,
    Program,
    fits,
)

_MAX_SHIFT = 3


@dataclass(frozen=True)
class Object:
    """The address of the new object."""


@dataclass(frozen=True)
class FrameStart:
    """The stack pointer when the allocator has returned."""


@dataclass(frozen=True)
class Unknown:
    """A number that the followed code does not determine."""


_INEXPRESSIBLE = (Object, Unknown)

Term = Operation | Object | FrameStart | Unknown

OBJECT = Object()
FRAME = FrameStart()
IMAGE = Image(0)


@dataclass(frozen=True)
class Value:
    """The value of the postfix `terms`, plus `added`; no terms stand for zero.

    `late`: a load through a pointer follows a store to the frame.
    """

    terms: tuple[Term, ...]
    added: int = 0
    late: bool = False

    @property
    def is_constant(self) -> bool:
        return not self.terms


UNKNOWN = Value((Unknown(),))


def constant(number: int) -> Value:
    """A known number, modulo 2**64."""
    return Value((), signed(number, 8))


def signed(number: int, width: int) -> int:
    """The low `width` bytes of a number as a signed number."""
    sign = 1 << (8 * width - 1)
    return (number & (2 * sign - 1) ^ sign) - sign


def add(base: Value, index: Value, shift: int = 0) -> Value:
    """base + (index << shift), with a shift of 0 to 3."""
    added = signed(base.added + (index.added << shift), 8)
    late = base.late or index.late
    if index.is_constant:
        return Value(base.terms, added, late)
    if base.is_constant and shift == 0:
        return Value(index.terms, added, late)
    terms = (*(base.terms or (Constant(0),)), *index.terms, Add(shift))
    return Value(terms, added, late) if len(terms) <= MAX_OPERATIONS else UNKNOWN


def shifted(value: Value, shift: int) -> Value:
    """value << shift."""
    while shift > _MAX_SHIFT:
        value = add(constant(0), value, _MAX_SHIFT)
        shift -= _MAX_SHIFT
    return add(constant(0), value, shift)


def difference(one: Value, other: Value) -> Value:
    """one - other, if `other` is a constant or both have the same terms."""
    late = one.late or other.late
    if other.is_constant:
        return Value(one.terms, signed(one.added - other.added, 8), late)
    if one.terms == other.terms and UNKNOWN.terms[0] not in one.terms:
        return constant(one.added - other.added)
    return UNKNOWN


def load(address: Value, width: int, late: bool) -> Value:
    """The zero-extended number in memory there; `late` as in `Value`."""
    folded = _folded(address)
    if folded is not None:
        return Value((folded, Load(width, False, 0)), 0, late or address.late)
    terms = (*address.terms, Load(width, False, address.added))
    return Value(terms, 0, late or address.late)


def part(value: Value, skip: int, width: int, by_sign: bool = False) -> Value | None:
    """The `width` bytes from byte `skip` on as a number, extended; None if it is inexpressible."""
    if value.is_constant:
        bits = value.added >> (8 * skip)
        return constant(signed(bits, width) if by_sign else bits & ((1 << 8 * width) - 1))
    last = value.terms[-1]
    if value.added or not isinstance(last, Load):
        return None
    if skip + width <= last.width:
        narrow = Load(width, by_sign, last.displacement + skip)
        return Value((*value.terms[:-1], narrow), 0, value.late)
    if skip == 0 and width > last.width and last.signed <= by_sign:
        return value
    return None


def program_of(value: Value, frame_bytes: int) -> Program | None:
    """The value in the closed grammar; None if it is inexpressible."""
    if any(isinstance(term, _INEXPRESSIBLE) for term in value.terms):
        return None
    folded = _folded(value)
    program: Program = (folded,) if folded is not None else tuple(_operations(value))
    return program if fits(program, frame_bytes) else None


def _operations(value: Value) -> Iterator[Operation]:
    """The operations of an expressible value."""
    for term in value.terms:
        if isinstance(term, FrameStart):
            yield Frame(0)
        elif not isinstance(term, _INEXPRESSIBLE):
            yield term
    if value.added:
        yield from (Constant(value.added), Add(0))


def _folded(value: Value) -> Operation | None:
    """The one operation that pushes a constant, or an address in the frame or the image."""
    if value.is_constant:
        return Constant(value.added)
    if value.terms == (FRAME,):
        return Frame(value.added)
    if value.terms == (IMAGE,):
        return Image(value.added)
    return None
