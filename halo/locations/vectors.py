"""Vector registers: moves and shuffles of several fields at once, and arithmetic with reals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from iced_x86 import Instruction, Mnemonic

from halo.locations.contents import Bytes, bytes_of, unknown, value_of, zeros
from halo.locations.instructions import has_equal_sources, is_memory, width_of
from halo.locations.operands import read, write
from halo.locations.state import State
from halo.locations.symbolic import Value, combine, convert

Handler = Callable[[State, Instruction], None]
Combination = Callable[[Bytes, Bytes], Bytes]

_VECTOR = 16
_WIDTHS = {"i32": 4, "i64": 8, "f32": 4, "f64": 8}


def _move(state: State, instruction: Instruction) -> None:
    write(state, instruction, read(state, instruction, 1, width_of(instruction, 0)))


def _move_low(width: int) -> Handler:
    """`movd` and `movq`: clear the rest of a vector register."""

    def handle(state: State, instruction: Instruction) -> None:
        content = read(state, instruction, 1, width)
        into_vector = width_of(instruction, 0) >= _VECTOR
        write(state, instruction, content + (zeros(_VECTOR - width) if into_vector else ()))

    return handle


def _move_scalar(width: int) -> Handler:
    """`movss` and `movsd`: between registers they keep the rest of the first source."""

    def handle(state: State, instruction: Instruction) -> None:
        if is_memory(instruction, 0):
            write(state, instruction, read(state, instruction, 1, width))
        elif is_memory(instruction, 1):
            write(state, instruction, read(state, instruction, 1) + zeros(_VECTOR - width))
        else:
            first = read(state, instruction, _first(instruction), _VECTOR)
            last = read(state, instruction, instruction.op_count - 1, width)
            write(state, instruction, last + first[width:])

    return handle


def _first(instruction: Instruction) -> int:
    """The number of the first source: operand 0 where that is also the destination."""
    return instruction.op_count - 2


def _move_half(at: int) -> Handler:
    """`movlps` and `movhps`: one half of a register, from or to memory."""

    def handle(state: State, instruction: Instruction) -> None:
        if is_memory(instruction, 0):
            write(state, instruction, read(state, instruction, 1, _VECTOR)[at : at + 8])
        else:
            last = instruction.op_count - 1
            first = read(state, instruction, _first(instruction), _VECTOR)
            half = read(state, instruction, last, 8)
            write(state, instruction, first[:at] + half + first[at + 8 :])

    return handle


def _combine(combination: Combination) -> Handler:
    """A shuffle of two sources: two operands of which one is the destination, or three."""

    def handle(state: State, instruction: Instruction) -> None:
        if width_of(instruction, 0) != _VECTOR:
            write(state, instruction, unknown(_VECTOR))
            return
        last = instruction.op_count - 1
        sources = [read(state, instruction, at, _VECTOR) for at in (last - 1, last)]
        write(state, instruction, combination(*sources))

    return handle


def _interleave(one: Bytes, other: Bytes) -> Bytes:
    """The two lower parts of 4 bytes of each, alternating."""
    return one[:4] + other[:4] + one[4:8] + other[4:8]


def _insert(width: int) -> Handler:
    def handle(state: State, instruction: Instruction) -> None:
        number = instruction.op_count - 1
        first = read(state, instruction, number - 2, _VECTOR)
        at = instruction.immediate(number) * width % _VECTOR
        content = read(state, instruction, number - 1, width)
        write(state, instruction, first[:at] + content + first[at + width :])

    return handle


def _extract(width: int) -> Handler:
    def handle(state: State, instruction: Instruction) -> None:
        at = instruction.immediate(2) * width % _VECTOR
        write(state, instruction, read(state, instruction, 1, _VECTOR)[at : at + width])

    return handle


def _shuffle(state: State, instruction: Instruction) -> None:
    """`pshufd`: any four parts of 4 bytes."""
    width = width_of(instruction, 0)
    if width != _VECTOR:
        write(state, instruction, unknown(width))
        return
    source, order = read(state, instruction, 1, _VECTOR), instruction.immediate(2)
    chosen: Bytes = ()
    for lane in range(4):
        at = 4 * (order >> (2 * lane) & 3)
        chosen += source[at : at + 4]
    write(state, instruction, chosen)


def _exclusive_or(lane: int) -> Handler:
    """Zero if both sources are the same register."""

    def handle(state: State, instruction: Instruction) -> None:
        if has_equal_sources(instruction):
            write(state, instruction, zeros(width_of(instruction, 0)))
        else:
            _packed("xor", lane)(state, instruction)

    return handle


def _scalar(name: str, width: int) -> Handler:
    """Arithmetic with the lowest real; the rest is that of the first source."""

    def handle(state: State, instruction: Instruction) -> None:
        first = read(state, instruction, _first(instruction), _VECTOR)
        last = read(state, instruction, instruction.op_count - 1, width)
        result = combine(f"{name} f{8 * width}", value_of(first[:width]), value_of(last))
        write(state, instruction, bytes_of(result, width) + first[width:])

    return handle


def _packed(function: str, lane: int) -> Handler:
    """A function of each two lanes of `lane` bytes."""

    def combination(one: Bytes, other: Bytes) -> Bytes:
        result: Bytes = ()
        for at in range(0, _VECTOR, lane):
            values = (value_of(each[at : at + lane]) for each in (one, other))
            result += bytes_of(combine(function, *values), lane)
        return result

    return _combine(combination)


def _convert_scalar(source: str, target: str) -> Handler:
    """A number becomes the lowest real; the rest is that of the first source."""

    def handle(state: State, instruction: Instruction) -> None:
        first = read(state, instruction, _first(instruction), _VECTOR)
        last = instruction.op_count - 1
        kind = source or f"i{8 * width_of(instruction, last)}"
        width = _WIDTHS[target]
        value = value_of(read(state, instruction, last, _WIDTHS[kind]))
        write(state, instruction, bytes_of(convert(value, kind, target), width) + first[width:])

    return handle


def _truncate(source: str) -> Handler:
    """The lowest real becomes an integer in a general register."""

    def handle(state: State, instruction: Instruction) -> None:
        width = width_of(instruction, 0)
        value = value_of(read(state, instruction, 1, _WIDTHS[source]))
        write(state, instruction, bytes_of(convert(value, source, f"i{8 * width}"), width))

    return handle


def _convert_packed(source: str, target: str) -> Handler:
    """The lower numbers of a register; what the results do not fill is zero."""

    def handle(state: State, instruction: Instruction) -> None:
        old, new = _WIDTHS[source], _WIDTHS[target]
        last = instruction.op_count - 1
        if width_of(instruction, 0) != _VECTOR or width_of(instruction, last) > _VECTOR:
            write(state, instruction, unknown(width_of(instruction, 0)))
            return
        count = _VECTOR // max(old, new)
        content = read(state, instruction, last, count * old)
        result: Bytes = ()
        for at in range(0, count * old, old):
            value: Value = convert(value_of(content[at : at + old]), source, target)
            result += bytes_of(value, new)
        write(state, instruction, result + zeros(_VECTOR - len(result)))

    return handle


def _named(*names: str) -> list[int]:
    """The instructions of these names, and their forms with three operands."""
    wanted = {*names, *(f"V{name}" for name in names)}
    return [number for name, number in vars(Mnemonic).items() if name in wanted]


_MOVES = ("MOVAPS", "MOVAPD", "MOVUPS", "MOVUPD", "MOVDQA", "MOVDQU", "LDDQU")
_WIDE_MOVES = ("MOVDQA32", "MOVDQA64", "MOVDQU8", "MOVDQU16", "MOVDQU32", "MOVDQU64")
_REALS = ("add", "sub", "mul", "div")
_TABLE: list[tuple[Handler, tuple[str, ...]]] = [
    (_move, _MOVES + _WIDE_MOVES),
    (_move_low(4), ("MOVD",)),
    (_move_low(8), ("MOVQ",)),
    (_move_scalar(4), ("MOVSS",)),
    (_move_scalar(8), ("MOVSD",)),
    (_move_half(0), ("MOVLPS", "MOVLPD")),
    (_move_half(8), ("MOVHPS", "MOVHPD")),
    (_combine(lambda one, other: one[:8] + other[:8]), ("PUNPCKLQDQ", "UNPCKLPD", "MOVLHPS")),
    (_combine(lambda one, other: one[8:] + other[8:]), ("PUNPCKHQDQ", "UNPCKHPD")),
    (_combine(lambda one, other: other[8:] + one[8:]), ("MOVHLPS",)),
    (_combine(_interleave), ("PUNPCKLDQ", "UNPCKLPS")),
    (_insert(4), ("PINSRD",)),
    (_insert(8), ("PINSRQ",)),
    (_extract(4), ("PEXTRD",)),
    (_extract(8), ("PEXTRQ",)),
    (_shuffle, ("PSHUFD",)),
    (_exclusive_or(4), ("XORPS", "PXORD")),
    (_exclusive_or(8), ("PXOR", "XORPD", "PXORQ")),
    *((_packed(name, 4), (f"{name.upper()}PS",)) for name in ("and", "or")),
    *((_packed(name, 8), (f"{name.upper()}PD", f"P{name.upper()}")) for name in ("and", "or")),
    (_packed("sub", 4), ("PSUBD",)),
    (_packed("sub", 8), ("PSUBQ",)),
    (_packed("mul", 4), ("PMULLD",)),
    *((_scalar(name, 4), (f"{name.upper()}SS",)) for name in _REALS),
    *((_scalar(name, 8), (f"{name.upper()}SD",)) for name in _REALS),
    *((_packed(f"{name} f32", 4), (f"{name.upper()}PS",)) for name in _REALS),
    *((_packed(f"{name} f64", 8), (f"{name.upper()}PD",)) for name in _REALS),
    (_convert_scalar("", "f32"), ("CVTSI2SS",)),
    (_convert_scalar("", "f64"), ("CVTSI2SD",)),
    (_convert_scalar("f32", "f64"), ("CVTSS2SD",)),
    (_convert_scalar("f64", "f32"), ("CVTSD2SS",)),
    (_truncate("f32"), ("CVTTSS2SI",)),
    (_truncate("f64"), ("CVTTSD2SI",)),
    (_convert_packed("i32", "f64"), ("CVTDQ2PD",)),
    (_convert_packed("i32", "f32"), ("CVTDQ2PS",)),
    (_convert_packed("f32", "f64"), ("CVTPS2PD",)),
    (_convert_packed("f64", "f32"), ("CVTPD2PS",)),
]

VECTORS: Mapping[int, Handler] = {
    mnemonic: handler for handler, names in _TABLE for mnemonic in _named(*names)
}
"""How each of these instructions changes the state."""
