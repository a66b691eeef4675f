"""The closed grammar of values: postfix programs on a stack of 64-bit numbers.

The runtime executes a program at an allocation. Each operation packs into three numbers:

| operation | code | parameter | value |
| --- | --- | --- | --- |
| `Register` | 0 | number | 0 |
| `Frame` | 1 | 0 | offset |
| `Image` | 2 | 0 | offset |
| `Load` | 3 | width, plus 0x80 if signed | displacement |
| `Add` | 4 | shift | 0 |
| `Constant` | 5 | 0 | number |
| `Extend` | 6 | width, plus 0x80 if signed | 0 |
| `Combine` | 7 | place of the function in FUNCTIONS | 0 |
| `Convert` | 8 | 4 * place of the source in TYPES + that of the target | 0 |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MAX_OPERATIONS = 24
MAX_STACK = 4
WIDTHS = (1, 2, 4, 8)
"""Bytes of a load or of an extension, which are not of 8."""
_INT32 = range(-(2**31), 2**31)
_UINT32 = range(2**32)
_SIGNED = 0x80

FUNCTIONS = (
    *("sub", "mul", "and", "or", "xor", "shl", "shr", "sar"),
    *(f"{name} {kind}" for kind in ("f32", "f64") for name in ("add", "sub", "mul", "div")),
)
"""What `Combine` does with the two topmost values; of reals with their bits."""
TYPES = ("i32", "i64", "f32", "f64")
"""What `Convert` converts; 4 bytes are the low ones of a value."""


@dataclass(frozen=True)
class Register:
    """Pushes a register as it is at the call: 0 to 5 for rbx, rbp, r12, r13, r14, r15."""

    number: int


@dataclass(frozen=True)
class Frame:
    """Pushes an address on the stack: `offset` bytes above rsp when the allocator has returned."""

    offset: int


@dataclass(frozen=True)
class Image:
    """Pushes an address in the module: load bias + `offset`."""

    offset: int


@dataclass(frozen=True)
class Load:
    """Pops an address; pushes the `width` bytes at address + `displacement`, extended.

    The width is 1, 2, 4 or 8. The extension is by sign if `signed`, else by zeros.
    """

    width: int
    signed: bool
    displacement: int


@dataclass(frozen=True)
class Add:
    """Pops an index, then a base; pushes base + (index << `shift`), with a shift of 0 to 3."""

    shift: int


@dataclass(frozen=True)
class Constant:
    """Pushes a number of 32 bits, extended by its sign."""

    number: int


@dataclass(frozen=True)
class Extend:
    """Pops a value; pushes its low `width` bytes, 1, 2 or 4, extended by sign or by zeros."""

    width: int
    signed: bool


@dataclass(frozen=True)
class Combine:
    """Pops b, then a; pushes the result of one of FUNCTIONS of a and b."""

    function: str


@dataclass(frozen=True)
class Convert:
    """Pops a value of the type `source`; pushes it as `target`. At least one of both is real."""

    source: str
    target: str


Operation = Register | Frame | Image | Load | Add | Constant | Extend | Combine | Convert
Program = tuple[Operation, ...]


def pack(operation: Operation) -> tuple[int, int, int]:
    """The operation as (code, parameter, value), by the table at the top of this file."""
    match operation:
        case Register(number):
            return 0, number, 0
        case Frame(offset):
            return 1, 0, offset
        case Image(offset):
            return 2, 0, offset
        case Load(width, signed, displacement):
            return 3, width | (_SIGNED if signed else 0), displacement
        case Add(shift):
            return 4, shift, 0
        case Constant(number):
            return 5, 0, number
        case Extend(width, signed):
            return 6, width | (_SIGNED if signed else 0), 0
        case Combine(function):
            return 7, FUNCTIONS.index(function), 0
        case Convert(source, target):
            return 8, len(TYPES) * TYPES.index(source) + TYPES.index(target), 0


def fits(program: Program, frame_bytes: int) -> bool:
    """Whether the program keeps the limits on length, stack and operands.

    `frame_bytes`: the size of the caller's frame, which bounds the offsets of `Frame`.
    """
    if len(program) > MAX_OPERATIONS or max(_depths(program), default=0) > MAX_STACK:
        return False
    return all(_operand_fits(operation, frame_bytes) for operation in program)


def _depths(program: Program) -> Iterator[int]:
    """The number of values on the stack behind each operation."""
    depth = 0
    for operation in program:
        if isinstance(operation, Add | Combine):
            depth -= 1
        elif not isinstance(operation, Load | Extend | Convert):
            depth += 1
        yield depth


def _operand_fits(operation: Operation, frame_bytes: int) -> bool:
    match operation:
        case Frame(offset):
            return offset in range(frame_bytes)
        case Image(offset):
            return offset in _UINT32
        case Load(width, _, displacement):
            return width in WIDTHS and displacement in _INT32
        case Extend(width, _):
            return width in WIDTHS[:-1]
        case Constant(number):
            return number in _INT32
        case _:
            return True
