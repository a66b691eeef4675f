"""Determines whether functions preserve their callers' registers as the ABI requires.

Compiled code does (System V x86-64 ABI, section 3.2.1). Hand-written code has helpers with other
conventions: after a call of such a helper a register may have any value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iced_x86 import (
    FlowControl,
    Instruction,
    Mnemonic,
    OpKind,
    Register,
)
from iced_x86 import RegisterExt as Registers

from halo.binary.alignment.functions import Functions, Piece
from halo.binary.elf.registers import CALLEE_SAVED, written_general_registers

_CALLEE_SAVED = frozenset(CALLEE_SAVED)
_LEADS = {
    FlowControl.CALL,
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.CONDITIONAL_BRANCH,
}


class Callees:
    """The results for the functions of one module, computed on demand."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._keeps: dict[int, bool] = {}
        self._inspected: dict[int, tuple[bool, frozenset[int]]] = {}

    def keep_registers(self, function: int) -> bool:
        """Whether the function at that address and its callees save the registers that they change.

        Functions of other modules do by assumption. False if no function begins there. A recursive
        call counts as preserving; the other code on the cycle decides.
        """
        if function in self._keeps:
            return self._keeps[function]
        work, seen = [function], {function}
        while work:
            saves, leads = self._inspect_trace(work.pop())
            if not saves or any(self._keeps.get(target) is False for target in leads):
                self._keeps[function] = False
                return False
            new = leads - seen
            seen |= new
            work.extend(target for target in new if target not in self._keeps)
        self._keeps.update(dict.fromkeys(seen, True))
        return True

    def _inspect_trace(self, function: int) -> tuple[bool, frozenset[int]]:
        """Whether the function itself saves what it changes, and the functions that it enters."""
        if function not in self._inspected:
            piece = self._functions.starting_at(function)
            code = [] if piece is None else piece.instructions()
            if piece is not None:
                found = (self._saves(code), frozenset(_leads_to(piece, code)))
            else:
                found = (self._functions.is_linkage_stub(function), frozenset[int]())
            self._inspected[function] = found
        return self._inspected[function]

    def _saves(self, code: Sequence[Instruction]) -> bool:
        changed: set[int] = set()
        saved: set[int] = set()
        for each in code:
            changed |= _CALLEE_SAVED.intersection(written_general_registers(each))
            saved |= _saved_by(each)
        return changed <= saved


def _saved_by(instruction: Instruction) -> set[int]:
    """The register that the instruction stores on the stack, if any."""
    if instruction.mnemonic == Mnemonic.PUSH and instruction.op0_kind == OpKind.REGISTER:
        return {Registers.full_register(instruction.op0_register)}
    if (
        instruction.mnemonic == Mnemonic.MOV
        and instruction.op0_kind == OpKind.MEMORY
        and instruction.op1_kind == OpKind.REGISTER
        and instruction.memory_base in (Register.RSP, Register.RBP)
    ):
        return {Registers.full_register(instruction.op1_register)}
    return set()


def _leads_to(piece: Piece, code: Sequence[Instruction]) -> Iterator[int]:
    for each in code:
        if each.flow_control in _LEADS and each.op0_kind == OpKind.NEAR_BRANCH64:
            target = each.near_branch_target
            if not piece.start <= target < piece.end:
                yield target
