"""The registers that an instruction changes."""

from __future__ import annotations

from collections.abc import Iterator

from iced_x86 import Instruction, InstructionInfoFactory, OpAccess
from iced_x86 import RegisterExt as Registers

_WRITES = {OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}


def written_registers(info: InstructionInfoFactory, instruction: Instruction) -> Iterator[int]:
    """The full general registers that it changes in whole or in part, perhaps conditionally."""
    for used in info.info(instruction).used_registers():
        if used.access in _WRITES and Registers.is_gpr(used.register):
            yield Registers.full_register(used.register)
