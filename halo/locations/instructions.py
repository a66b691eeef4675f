"""Facts about an instruction: its numbers, its operands and what it changes."""

from __future__ import annotations

from iced_x86 import Instruction, InstructionInfoFactory, OpAccess, OpKind
from iced_x86 import MemorySizeExt as MemorySizes
from iced_x86 import RegisterExt as Registers

from halo.locations.symbolic import signed

IMMEDIATES = {value for name, value in vars(OpKind).items() if name.startswith("IMMEDIATE")}
_WRITES = {OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
_INFO = InstructionInfoFactory()
_WORD = 8


def immediate(instruction: Instruction, operand: int) -> int:
    """The number in that operand, extended by its sign from the width of the operation."""
    width = 4 if instruction.op_kind(operand) == OpKind.IMMEDIATE32 else _WORD
    return signed(instruction.immediate(operand), width)


def is_memory(instruction: Instruction, operand: int) -> bool:
    """Whether the operand is in memory."""
    return operand < instruction.op_count and instruction.op_kind(operand) == OpKind.MEMORY


def is_register(instruction: Instruction, operand: int) -> bool:
    """Whether the operand is a register."""
    return operand < instruction.op_count and instruction.op_kind(operand) == OpKind.REGISTER


def has_equal_sources(instruction: Instruction) -> bool:
    """Whether its last two operands are the same register."""
    one, other = instruction.op_count - 2, instruction.op_count - 1
    if one < 0 or not is_register(instruction, one) or not is_register(instruction, other):
        return False
    return instruction.op_register(one) == instruction.op_register(other)


def width_of(instruction: Instruction, operand: int) -> int:
    """The operand's width in bytes; 8 for numbers."""
    if is_register(instruction, operand):
        return Registers.size(instruction.op_register(operand))
    if is_memory(instruction, operand):
        return MemorySizes.size(instruction.memory_size)
    return _WORD


def writes_memory(instruction: Instruction) -> bool:
    """Whether it stores to memory, perhaps conditionally."""
    return any(used.access in _WRITES for used in _INFO.info(instruction).used_memory())
