"""Contents of registers and memory: sequences of bytes, each of which is a byte of a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from halo.locations.symbolic import UNKNOWN, Value, constant, low, part

_WORD = 8


class Byte(NamedTuple):
    """Byte number `at` of a value, from its low end."""

    value: Value
    at: int


Bytes = tuple[Byte, ...]


def bytes_of(value: Value, width: int = _WORD) -> Bytes:
    """The low `width` bytes of a value, at most 8."""
    return tuple(Byte(value, at) for at in range(width))


def unknown(width: int) -> Bytes:
    """Bytes about which nothing is known."""
    return (Byte(UNKNOWN, 0),) * width


def zeros(width: int) -> Bytes:
    """Bytes that are zero, in words of 8."""
    return tuple(Byte(constant(0), at % _WORD) for at in range(width))


def value_of(content: Bytes) -> Value:
    """A value whose low bytes are the content; unknown if no single value has them."""
    value, first = content[0]
    if all(byte == (value, first + at) for at, byte in enumerate(content)):
        if first == 0:
            return low(value, len(content))
        return part(value, first, len(content)) or UNKNOWN
    if all(byte.value.is_constant for byte in content):
        numbers = (byte.value.added >> (8 * byte.at) & 0xFF for byte in content)
        return constant(int.from_bytes(bytes(numbers), "little"))
    return UNKNOWN


def extended(content: Bytes, width: int, by_sign: bool = False) -> Bytes:
    """The content extended to `width` bytes by zeros or by its sign."""
    if width <= len(content):
        return content[:width]
    whole = part(value_of(content), 0, len(content), by_sign)
    if whole is not None:
        return bytes_of(whole, width)
    rest = width - len(content)
    return content + (unknown(rest) if by_sign else zeros(rest))


def runs(content: Bytes) -> Iterator[tuple[int, Bytes]]:
    """The content in parts of one value each, with their positions; at most 8 bytes long."""
    start = 0
    for at in range(1, len(content) + 1):
        if at == len(content) or at % _WORD == 0 or not _follows(content[at - 1], content[at]):
            yield start, content[start:at]
            start = at


def _follows(one: Byte, other: Byte) -> bool:
    if one.value == other.value == UNKNOWN:
        return True
    return other == (one.value, one.at + 1)
