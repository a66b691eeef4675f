"""Symbolic values of 64 bits: what is known about the content of a register.

A value is a program of the closed grammar plus a constant. Terms outside the grammar stand for the
new object's address and for unknown numbers, so that addresses near them are recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from halo.locations.program import (
    MAX_OPERATIONS,
    WIDTHS,
    Add,
    Combine,
    Constant,
    Convert,
    Extend,
    Frame,
    Image,
    Load,
    Operation,
    Program,
    fits,
)

_MAX_SHIFT = 3
_WORD = 8
_UINT32 = 1 << 32


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
    return _limited(Value(terms, added, late))


def shifted(value: Value, shift: int) -> Value:
    """value << shift."""
    if shift <= _MAX_SHIFT or value.is_constant:
        return add(constant(0), value, shift)
    return combine("shl", value, constant(shift))


def difference(one: Value, other: Value) -> Value:
    """one - other."""
    late = one.late or other.late
    if other.is_constant:
        return Value(one.terms, signed(one.added - other.added, 8), late)
    if one.terms == other.terms and UNKNOWN.terms[0] not in one.terms:
        return constant(one.added - other.added)
    return combine("sub", one, other)


_FOLDED: dict[str, Callable[[int, int], int]] = {
    "mul": lambda one, other: one * other,
    "and": lambda one, other: one & other,
    "or": lambda one, other: one | other,
    "xor": lambda one, other: one ^ other,
}


def combine(function: str, one: Value, other: Value) -> Value:
    """The result of one of FUNCTIONS."""
    if one.is_constant and other.is_constant and function in _FOLDED:
        return constant(_FOLDED[function](one.added, other.added))
    terms = (*_whole(one), *_whole(other), Combine(function))
    return _limited(Value(terms, 0, one.late or other.late))


def convert(value: Value, source: str, target: str) -> Value:
    """A number of the type `source` as one of the type `target`."""
    return _limited(Value((*_whole(value), Convert(source, target)), 0, value.late))


def _whole(value: Value) -> tuple[Term, ...]:
    """The terms of the value and what is added to them."""
    if value.terms == (IMAGE,):
        return (Image(value.added),)
    if value.is_constant:
        return (Constant(value.added),)
    return (*value.terms, Constant(value.added), Add(0)) if value.added else value.terms


def _limited(value: Value) -> Value:
    """The value, or an unknown one near the frame or elsewhere if it has too many terms."""
    if len(value.terms) <= MAX_OPERATIONS:
        return value
    return Value((FRAME, *UNKNOWN.terms)) if FRAME in value.terms else UNKNOWN


def load(address: Value, width: int, late: bool) -> Value:
    """The zero-extended number in memory there; `late` as in `Value`."""
    folded = _folded(address)
    if folded is not None:
        return Value((folded, Load(width, False, 0)), 0, late or address.late)
    if address.is_constant:
        return _limited(Value((*_whole(address), Load(width, False, 0)), 0, late or address.late))
    terms = (*address.terms, Load(width, False, address.added))
    return _limited(Value(terms, 0, late or address.late))


def low(value: Value, width: int) -> Value:
    """A value with the same low `width` bytes, without extensions that only change the others."""
    while not value.added and value.terms and isinstance(value.terms[-1], Extend):
        if value.terms[-1].width < width:
            break
        value = Value(value.terms[:-1], 0, value.late)
    return value


def part(value: Value, skip: int, width: int, by_sign: bool = False) -> Value | None:
    """The `width` bytes from byte `skip` on as a number, extended; None if it is inexpressible."""
    if value.is_constant:
        bits = value.added >> (8 * skip)
        return constant(signed(bits, width) if by_sign else bits & ((1 << 8 * width) - 1))
    if width not in WIDTHS or any(isinstance(term, _INEXPRESSIBLE) for term in value.terms):
        return None
    last = value.terms[-1]
    if isinstance(last, Load | Extend) and not value.added:
        if isinstance(last, Load) and skip + width <= last.width:
            narrow = Load(width, by_sign, last.displacement + skip)
            return Value((*value.terms[:-1], narrow), 0, value.late)
        if skip == 0 and width <= last.width:
            return Value((*value.terms[:-1], Extend(width, by_sign)), 0, value.late)
        if skip == 0 and width > last.width and last.signed <= by_sign:
            return value
    if skip:
        value = combine("shr", value, constant(8 * skip))
    if width < _WORD:
        value = Value((*_whole(value), Extend(width, by_sign)), 0, value.late)
    return _limited(value)


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
        elif isinstance(term, Constant):
            yield from _constants(term.number)
        elif not isinstance(term, _INEXPRESSIBLE):
            yield term
    if value.added:
        yield from (*_constants(value.added), Add(0))


def _constants(number: int) -> Iterator[Operation]:
    """Pushes a number of 64 bits."""
    low = signed(number, 4)
    if low == number:
        yield Constant(low)
    elif 0 <= number < _UINT32:
        yield from (Constant(low), Extend(4, False))
    else:
        high = (number - low) >> 32
        yield from (Constant(high), Constant(32), Combine("shl"), Constant(low), Add(0))


def _folded(value: Value) -> Operation | None:
    """The one operation that pushes a constant, or an address in the frame or the image."""
    if value.is_constant and value.added == signed(value.added, 4):
        return Constant(value.added)
    if value.terms == (FRAME,):
        return Frame(value.added)
    if value.terms == (IMAGE,):
        return Image(value.added)
    return None
