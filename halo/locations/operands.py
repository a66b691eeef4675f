"""Reads and writes the operands of an instruction in a symbolic state."""

from __future__ import annotations

from iced_x86 import Instruction, Register
from iced_x86 import RegisterExt as Registers

from halo.locations.contents import Bytes, bytes_of
from halo.locations.instructions import immediate, is_memory, is_register, width_of
from halo.locations.state import State
from halo.locations.symbolic import IMAGE, UNKNOWN, Value, add, constant

_SHIFTS = {1: 0, 2: 1, 4: 2, 8: 3}
_SEGMENTS = (Register.FS, Register.GS)
_WORD = 8


def address_of(state: State, instruction: Instruction) -> Value:
    """The address of the operand in memory; unknown in segments of threads."""
    if instruction.memory_segment in _SEGMENTS:
        return UNKNOWN
    return offset_of(state, instruction)


def offset_of(state: State, instruction: Instruction) -> Value:
    """The number that the parts of the operand in memory give, whatever its segment."""
    base, index = instruction.memory_base, instruction.memory_index
    displacement = constant(instruction.memory_displacement)
    if base == Register.RIP:
        return Value((IMAGE,), displacement.added)
    for register in (base, index):
        if register != Register.NONE and Registers.size(register) != _WORD:
            return UNKNOWN
    start = displacement if base == Register.NONE else add(state.value(base), displacement)
    if index == Register.NONE:
        return start
    return add(start, state.value(index), _SHIFTS[instruction.memory_index_scale])


def read(state: State, instruction: Instruction, operand: int, width: int = 0) -> Bytes:
    """The content of an operand: its low `width` bytes, or all if that is 0."""
    width = width or width_of(instruction, operand)
    if is_register(instruction, operand):
        return state.register(instruction.op_register(operand), width)
    if is_memory(instruction, operand):
        return state.load(address_of(state, instruction), width)
    return bytes_of(constant(immediate(instruction, operand)), width)


def write(state: State, instruction: Instruction, content: Bytes) -> None:
    """Writes the first operand."""
    if is_memory(instruction, 0):
        state.store(address_of(state, instruction), content)
    else:
        state.set_register(instruction.op0_register, content)
