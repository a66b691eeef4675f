"""Whether functions leave the registers of their callers as the ABI demands.

Compilers' code does. Hand-written code has helpers of its own conventions, so a register that was
aligned before a call of such a helper may hold anything behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iced_x86 import (
    FlowControl,
    Instruction,
    InstructionInfoFactory,
    Mnemonic,
    OpKind,
    Register,
)
from iced_x86 import RegisterExt as Registers

from halo.alignment.functions import Functions, Piece
from halo.alignment.registers import written_registers

_CALLEE_SAVED = {
    Register.RBX,
    Register.RBP,
    Register.R12,
    Register.R13,
    Register.R14,
    Register.R15,
}
_LEADS = {
    FlowControl.CALL,
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.CONDITIONAL_BRANCH,
}


class Callees:
    """Answers for the functions of one module."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._info = InstructionInfoFactory()
        self._keeps: dict[int, bool] = {}
        self._looked_at: dict[int, tuple[bool, frozenset[int]]] = {}

    def keep_registers(self, function: int) -> bool:
        """Whether the function and all that it leads to save what they change.

        Those of other modules do. False for what is no function's beginning. Recursion is taken to
        keep them, as it does unless something else on the way does not.
        """
        if function in self._keeps:
            return self._keeps[function]
        work, seen = [function], {function}
        while work:
            saves, leads = self._look_at(work.pop())
            if not saves or any(self._keeps.get(target) is False for target in leads):
                self._keeps[function] = False
                return False
            new = leads - seen
            seen |= new
            work.extend(target for target in new if target not in self._keeps)
        self._keeps.update(dict.fromkeys(seen, True))
        return True

    def _look_at(self, function: int) -> tuple[bool, frozenset[int]]:
        """Whether it saves what it changes itself, and which functions it leads to."""
        if function not in self._looked_at:
            piece = self._functions.starting_at(function)
            code = [] if piece is None else piece.instructions()
            if piece is not None:
                found = (self._saves(code), frozenset(_leads_to(piece, code)))
            else:
                found = (self._functions.is_linkage_stub(function), frozenset[int]())
            self._looked_at[function] = found
        return self._looked_at[function]

    def _saves(self, code: Sequence[Instruction]) -> bool:
        changed: set[int] = set()
        saved: set[int] = set()
        for each in code:
            changed |= _CALLEE_SAVED.intersection(written_registers(self._info, each))
            saved |= _saved_by(each)
        return changed <= saved


def _saved_by(instruction: Instruction) -> set[int]:
    """The register that goes to the stack."""
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
