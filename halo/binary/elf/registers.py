"""The registers of x86-64: which ones a call keeps, and which ones an instruction changes."""

from __future__ import annotations

from collections.abc import Iterator

from iced_x86 import Instruction, InstructionInfoFactory, OpAccess, Register
from iced_x86 import RegisterExt as Registers

CALLEE_SAVED = (
    Register.RBX,
    Register.RBP,
    Register.R12,
    Register.R13,
    Register.R14,
    Register.R15,
)
"""Those that a function keeps for its caller (psABI, section 3.2.1), without rsp."""
_WRITES = {OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
_INFO = InstructionInfoFactory()


def written_general_registers(instruction: Instruction) -> Iterator[int]:
    """The full general-purpose registers that it changes in whole or in part, perhaps
    conditionally.
    """
    for used in _INFO.info(instruction).used_registers():
        if used.access in _WRITES and Registers.is_gpr(used.register):
            yield Registers.full_register(used.register)
