"""Moves and address arithmetic in general registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from iced_x86 import Instruction, Mnemonic, Register, Register_

from halo.locations.contents import Bytes, bytes_of, extended, unknown, value_of, zeros
from halo.locations.instructions import IMMEDIATES, has_equal_sources, immediate, width_of
from halo.locations.operands import offset_of, read, write
from halo.locations.state import State
from halo.locations.symbolic import Value, add, constant, difference, shifted

Handler = Callable[[State, Instruction], None]

_MAX_SHIFT = 12


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


def _shift_left(state: State, instruction: Instruction) -> None:
    content = read(state, instruction, 0)
    result = unknown(len(content))
    if instruction.op1_kind in IMMEDIATES and immediate(instruction, 1) <= _MAX_SHIFT:
        result = bytes_of(shifted(value_of(content), immediate(instruction, 1)), len(content))
    write(state, instruction, result)


def _overwrite(state: State, instruction: Instruction) -> None:
    """Arithmetic whose result is in no grammar, except that x ^ x is zero."""
    width = width_of(instruction, 0)
    is_zero = instruction.mnemonic == Mnemonic.XOR and has_equal_sources(instruction)
    write(state, instruction, zeros(width) if is_zero else unknown(width))


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


_UNKNOWN_RESULTS = {"XOR", "AND", "OR", "NOT", "NEG", "ADC", "SBB", "SHR", "SAR"}
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
    **dict.fromkeys(_OVERWRITES, _overwrite),
    Mnemonic.PUSH: _push,
    Mnemonic.POP: _pop,
    Mnemonic.LEAVE: _leave,
    Mnemonic.CMP: _compare,
    Mnemonic.TEST: _compare,
}
"""How each of these instructions changes the state."""
