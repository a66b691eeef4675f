"""Moves and arithmetic in general registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from iced_x86 import Instruction, Mnemonic, Register, Register_

from halo.locations.contents import Bytes, bytes_of, extended, unknown, value_of, zeros
from halo.locations.instructions import IMMEDIATES, has_equal_sources, immediate, width_of
from halo.locations.operands import offset_of, read, write
from halo.locations.program import WIDTHS
from halo.locations.state import State
from halo.locations.symbolic import (
    UNKNOWN,
    Value,
    add,
    combine,
    constant,
    difference,
    part,
    shifted,
)

Handler = Callable[[State, Instruction], None]


def _move(state: State, instruction: Instruction) -> None:
    write(state, instruction, read(state, instruction, 1, width_of(instruction, 0)))


def _extend(by_sign: bool) -> Handler:
    def handle(state: State, instruction: Instruction) -> None:
        content = read(state, instruction, 1)
        write(state, instruction, extended(content, width_of(instruction, 0), by_sign))

    return handle


def _extend_rax(register: Register_, width: int) -> Handler:
    """`cdqe` and `cwde`: the lower half of a register, extended by its sign."""

    def handle(state: State, _: Instruction) -> None:
        half = state.register(register, width // 2)
        state.set_register(register, extended(half, width, by_sign=True))

    return handle


def _lea(state: State, instruction: Instruction) -> None:
    width = width_of(instruction, 0)
    write(state, instruction, bytes_of(offset_of(state, instruction), width))


def _arithmetic(combine: Callable[[Value, Value], Value]) -> Handler:
    def handle(state: State, instruction: Instruction) -> None:
        width = width_of(instruction, 0)
        values = [value_of(read(state, instruction, operand, width)) for operand in (0, 1)]
        write(state, instruction, bytes_of(combine(*values), width))

    return handle


def _step_by(number: int) -> Handler:
    def handle(state: State, instruction: Instruction) -> None:
        content = read(state, instruction, 0)
        result = add(value_of(content), constant(number))
        write(state, instruction, bytes_of(result, len(content)))

    return handle


def _count(instruction: Instruction, width: int) -> int:
    """By how many bits it shifts a value of `width` bytes; -1 if that is not known, or all."""
    if instruction.op1_kind not in IMMEDIATES:
        return -1
    count = immediate(instruction, 1) & (63 if width == 8 else 31)
    return count if count < 8 * width else -1


def _shift_left(state: State, instruction: Instruction) -> None:
    content = read(state, instruction, 0)
    width, count = len(content), _count(instruction, len(content))
    known = bytes_of(shifted(value_of(content), count), width) if count >= 0 else unknown(width)
    write(state, instruction, known)


def _shift_right(function: str, by_sign: bool) -> Handler:
    def handle(state: State, instruction: Instruction) -> None:
        content = read(state, instruction, 0)
        width, count = len(content), _count(instruction, len(content))
        result = None
        if count % 8 == 0 and width - count // 8 in WIDTHS:
            result = part(value_of(content), count // 8, width - count // 8, by_sign)
        elif count >= 0:
            whole = part(value_of(content), 0, width, by_sign)
            result = combine(function, whole, constant(count)) if whole else None
        write(state, instruction, bytes_of(result, width) if result else unknown(width))

    return handle


def _logic(function: str) -> Handler:
    """Bitwise operations, of which x ^ x is zero."""

    def handle(state: State, instruction: Instruction) -> None:
        width = width_of(instruction, 0)
        if function == "xor" and has_equal_sources(instruction):
            write(state, instruction, zeros(width))
            return
        values = [value_of(read(state, instruction, operand, width)) for operand in (0, 1)]
        result = _masked(*values) if function == "and" else combine(function, *values)
        write(state, instruction, bytes_of(result, width))

    return handle


_MASKS = {(1 << 8 * width) - 1: width for width in (1, 2, 4)}


def _masked(value: Value, mask: Value) -> Value:
    """Masks of whole bytes are extensions."""
    if mask.is_constant and mask.added in _MASKS:
        return part(value, 0, _MASKS[mask.added]) or UNKNOWN
    return combine("and", value, mask)


def _multiply(state: State, instruction: Instruction) -> None:
    """`imul`: with one operand, only the low half of the product is known."""
    width = width_of(instruction, 0)
    operands = range(instruction.op_count)[-2:]
    if instruction.op_count == 1:
        _multiply_wide(state, instruction)
        return
    values = [value_of(read(state, instruction, operand, width)) for operand in operands]
    write(state, instruction, bytes_of(combine("mul", *values), width))


def _multiply_wide(state: State, instruction: Instruction) -> None:
    """`mul`, and `imul` with one operand: ax or dx and ax, the upper half of which is lost."""
    content = read(state, instruction, 0)
    width = len(content)
    product = combine("mul", value_of(state.register(Register.RAX, width)), value_of(content))
    low = bytes_of(product, width) if width > 1 else unknown(2)
    state.set_register(_LOW[width], low)
    if width > 1:
        state.set_register(_HIGH[width], unknown(width))


_LOW = {1: Register.AX, 2: Register.AX, 4: Register.EAX, 8: Register.RAX}
_HIGH = {2: Register.DX, 4: Register.EDX, 8: Register.RDX}


def _negate(state: State, instruction: Instruction) -> None:
    content = read(state, instruction, 0)
    result = difference(constant(0), value_of(content))
    write(state, instruction, bytes_of(result, len(content)))


def _complement(state: State, instruction: Instruction) -> None:
    content = read(state, instruction, 0)
    result = combine("xor", value_of(content), constant(-1))
    write(state, instruction, bytes_of(result, len(content)))


def _overwrite(state: State, instruction: Instruction) -> None:
    """Arithmetic whose result is in no grammar."""
    write(state, instruction, unknown(width_of(instruction, 0)))


def _push(state: State, instruction: Instruction) -> None:
    width = -instruction.stack_pointer_increment
    content: Bytes = read(state, instruction, 0, width)
    top = add(state.value(Register.RSP), constant(-width))
    state.set_register(Register.RSP, bytes_of(top))
    state.store(top, content)


def _pop(state: State, instruction: Instruction) -> None:
    width = instruction.stack_pointer_increment
    top = state.value(Register.RSP)
    content = state.load(top, width)
    state.set_register(Register.RSP, bytes_of(add(top, constant(width))))
    write(state, instruction, content)


def _leave(state: State, _: Instruction) -> None:
    top = state.value(Register.RBP)
    state.set_register(Register.RBP, state.load(top, 8))
    state.set_register(Register.RSP, bytes_of(add(top, constant(8))))


def _compare(state: State, instruction: Instruction) -> None:
    """Notes whether the zero flag becomes the test of the object's address."""
    same = has_equal_sources(instruction)
    with_zero = instruction.op1_kind in IMMEDIATES and immediate(instruction, 1) == 0
    is_test = same if instruction.mnemonic == Mnemonic.TEST else with_zero
    content = read(state, instruction, 0)
    state.null_tested = is_test and state.is_object(content)


_UNKNOWN_RESULTS = {"ADC", "SBB"}
_OVERWRITES = [
    number
    for name, number in vars(Mnemonic).items()
    if name in _UNKNOWN_RESULTS or (name.startswith("SET") and name != "SETSSBSY")
]

GENERAL: Mapping[int, Handler] = {
    Mnemonic.MOV: _move,
    Mnemonic.MOVZX: _extend(False),
    Mnemonic.MOVSX: _extend(True),
    Mnemonic.MOVSXD: _extend(True),
    Mnemonic.CDQE: _extend_rax(Register.RAX, 8),
    Mnemonic.CWDE: _extend_rax(Register.EAX, 4),
    Mnemonic.LEA: _lea,
    Mnemonic.ADD: _arithmetic(add),
    Mnemonic.SUB: _arithmetic(difference),
    Mnemonic.INC: _step_by(1),
    Mnemonic.DEC: _step_by(-1),
    Mnemonic.SHL: _shift_left,
    Mnemonic.SAL: _shift_left,
    Mnemonic.SHR: _shift_right("shr", False),
    Mnemonic.SAR: _shift_right("sar", True),
    Mnemonic.AND: _logic("and"),
    Mnemonic.OR: _logic("or"),
    Mnemonic.XOR: _logic("xor"),
    Mnemonic.NOT: _complement,
    Mnemonic.NEG: _negate,
    Mnemonic.IMUL: _multiply,
    Mnemonic.MUL: _multiply_wide,
    **dict.fromkeys(_OVERWRITES, _overwrite),
    Mnemonic.PUSH: _push,
    Mnemonic.POP: _pop,
    Mnemonic.LEAVE: _leave,
    Mnemonic.CMP: _compare,
    Mnemonic.TEST: _compare,
}
"""How each of these instructions changes the state."""
