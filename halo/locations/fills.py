"""`rep stos`, by which compilers fill a large new object before they store its fields."""

from __future__ import annotations

from iced_x86 import Instruction, Mnemonic, Register

from halo.locations.contents import bytes_of
from halo.locations.state import State
from halo.locations.symbolic import OBJECT, add, constant

_MAX_BYTES = 1024
_WIDTHS = {Mnemonic.STOSB: 1, Mnemonic.STOSW: 2, Mnemonic.STOSD: 4, Mnemonic.STOSQ: 8}


def fills_object(instruction: Instruction, state: State) -> bool:
    """Whether it fills a known part of the new object, of at most 1024 bytes.

    The direction flag is clear, as the ABI requires.
    """
    width = _WIDTHS.get(instruction.mnemonic, 0)
    start, count = state.value(Register.RDI), state.value(Register.RCX)
    return (
        instruction.has_rep_prefix
        and start.terms == (OBJECT,)
        and start.added >= 0
        and count.is_constant
        and 0 <= count.added * width <= _MAX_BYTES
        and width > 0
    )


def fill(instruction: Instruction, state: State) -> None:
    """Executes an instruction that fills the object."""
    width = _WIDTHS[instruction.mnemonic]
    start, count = state.value(Register.RDI), state.value(Register.RCX).added
    content = state.register(Register.RAX, width)
    for number in range(count):
        state.store(add(start, constant(number * width)), content)
    state.set_register(Register.RDI, bytes_of(add(start, constant(count * width))))
    state.set_register(Register.RCX, bytes_of(constant(0)))
