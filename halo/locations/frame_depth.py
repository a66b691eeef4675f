"""Determines the depth of the stack at a call in a function that has a frame pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iced_x86 import FlowControl, Instruction, Mnemonic, Register

from halo.elf.registers import written_registers
from halo.locations.instructions import IMMEDIATES, immediate

_MOVED = {Mnemonic.PUSH, Mnemonic.POP}
_ADJUSTED = {Mnemonic.ADD, Mnemonic.SUB}
_LEFT = {Mnemonic.CALL, Mnemonic.RET, Mnemonic.LEAVE}
_JUMPS = {FlowControl.UNCONDITIONAL_BRANCH, FlowControl.CONDITIONAL_BRANCH}
_CONTINUED = {FlowControl.NEXT, FlowControl.CONDITIONAL_BRANCH, FlowControl.CALL}
_CONTINUED |= {FlowControl.INDIRECT_CALL}


def depth_at(code: Sequence[Instruction], call: int, at_entry: int) -> int | None:
    """The bytes between rsp and the function's return address at the instruction at `call`.

    `code`: the function's instructions from its entry on, where the depth is `at_entry`. None if
    direct jumps do not lead to the call, or if the depth is not constant all over the function.
    """
    if not all(map(_keeps_depth_constant, code)):
        return None
    index = {each.ip: at for at, each in enumerate(code)}
    depths = {0: at_entry}
    work = [0]
    while work:
        at = work.pop()
        after = _depth_after(code[at], depths[at])
        for follower in _followers(code[at], at, index):
            if follower not in depths:
                depths[follower] = after
                work.append(follower)
            elif depths[follower] != after:
                return None
    return depths.get(index.get(call, -1))


def _keeps_depth_constant(instruction: Instruction) -> bool:
    if Register.RSP not in written_registers(instruction):
        return True
    if instruction.mnemonic in _ADJUSTED:
        return instruction.op1_kind in IMMEDIATES
    return instruction.mnemonic in _MOVED | _LEFT


def _depth_after(instruction: Instruction, depth: int) -> int:
    if instruction.mnemonic in _MOVED:
        return depth - instruction.stack_pointer_increment
    if instruction.mnemonic == Mnemonic.LEAVE:
        return 0
    if instruction.mnemonic in _ADJUSTED and instruction.op0_register == Register.RSP:
        change = immediate(instruction, 1)
        return depth + (change if instruction.mnemonic == Mnemonic.SUB else -change)
    return depth


def _followers(instruction: Instruction, at: int, index: Mapping[int, int]) -> Iterator[int]:
    if instruction.flow_control in _JUMPS and instruction.near_branch_target in index:
        yield index[instruction.near_branch_target]
    if instruction.flow_control in _CONTINUED and at + 1 < len(index):
        yield at + 1
