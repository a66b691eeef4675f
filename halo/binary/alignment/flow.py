"""Proves that vector operands of a function are not misaligned heap objects.

This is a forward data-flow analysis over the instructions of one function (docs/alignment.md), a
monotone framework after Kildall (POPL 1973). For each register the analysis has one of three
values: a multiple of 16; an address on the stack or in the module's own data; unknown. At an entry
that the analysis cannot see, such as a jump from another function, all registers are unknown, so a
proof holds on every path. Functions with indirect jumps, exception handlers or transactions are not
analysed, as any instruction may be a target.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from iced_x86 import (
    ConditionCode,
    FlowControl,
    Instruction,
    Mnemonic,
    OpKind,
    Register,
)
from iced_x86 import RegisterExt as Registers

from halo.binary.elf.registers import written_general_registers

_ALIGNMENT = 16
_STATIC_ADDRESSES = range(1 << 16, 1 << 31)  # of programs that are not position-independent
_LOW_BITS = _ALIGNMENT - 1
_IMMEDIATES = {value for name, value in vars(OpKind).items() if name.startswith("IMMEDIATE")}
_HIGH_BYTES = {Register.AH, Register.BH, Register.CH, Register.DH}
_CALLER_SAVED = (
    Register.RAX,
    Register.RCX,
    Register.RDX,
    Register.RSI,
    Register.RDI,
    Register.R8,
    Register.R9,
    Register.R10,
    Register.R11,
)
_JUMPS = {FlowControl.UNCONDITIONAL_BRANCH, FlowControl.CONDITIONAL_BRANCH}
_ENDS = {
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.INDIRECT_BRANCH,
    FlowControl.RETURN,
    FlowControl.EXCEPTION,
}
_UNSEEN_JUMPS = {FlowControl.INDIRECT_BRANCH, FlowControl.XBEGIN_XABORT_XEND}
_PADDING = {Mnemonic.NOP, Mnemonic.INT3}
_CALLS = {FlowControl.CALL, FlowControl.INDIRECT_CALL, FlowControl.INTERRUPT}


class Known(Enum):
    """The abstract value of a register."""

    ALIGNED = auto()  # a multiple of 16
    OWN = auto()  # an address on the stack or in the module's data, at a fixed distance


# By full register; the value of a missing register is unknown.
State = dict[int, Known]


@dataclass
class BasicBlock:
    """A basic block: instruction indices from `first` up to `last`, excluding `last`."""

    first: int
    last: int
    entered: bool  # also from places that the analysis cannot see


def safe_operands(
    code: Sequence[Instruction],
    wanted: Collection[int],
    entered: Collection[int],
    is_frame_pointer: Callable[[int], bool],
    keeps_registers: Callable[[int], bool],
    seen_through: bool = True,
) -> set[int]:
    """Indices of those `wanted` instructions whose operand is aligned or not a heap object.

    `code`: a function's instructions, ascending and without gaps. `entered`: addresses in it that
    other functions jump to. `is_frame_pointer(address)`: whether `rbp` is the frame pointer there.
    `keeps_registers(address)`: whether a function preserves its callers' registers. If
    `seen_through` is false, exceptions or jump tables of another part may enter any instruction.
    """
    safe = {at for at in wanted if _is_in_frame(code[at], is_frame_pointer)}
    left = set(wanted) - safe
    direct = all(each.flow_control not in _UNSEEN_JUMPS for each in code)
    if left and direct and seen_through:
        safe |= _Flow(code, entered, keeps_registers).aligned(left)
    return safe


def _is_in_frame(instruction: Instruction, is_frame_pointer: Callable[[int], bool]) -> bool:
    """Whether the operand is on the stack, thread-local, or at an address in the code."""
    if instruction.memory_segment in (Register.FS, Register.GS):
        return True
    base = instruction.memory_base
    if base == Register.NONE:
        indexed = instruction.memory_index != Register.NONE
        return not indexed or instruction.memory_displacement in _STATIC_ADDRESSES
    if base in (Register.RSP, Register.RIP):
        return True
    return base == Register.RBP and is_frame_pointer(instruction.ip)


class _Flow:
    def __init__(
        self,
        code: Sequence[Instruction],
        entered: Collection[int],
        keeps_registers: Callable[[int], bool],
    ) -> None:
        self._code = code
        self._keeps_registers = keeps_registers
        self._index = {instruction.ip: at for at, instruction in enumerate(code)}
        self._blocks = self._make_blocks(entered)
        self._block_at = {block.first: number for number, block in enumerate(self._blocks)}

    def aligned(self, wanted: Collection[int]) -> set[int]:
        """Those of the wanted instructions whose operand is aligned on every path."""
        before = self._solve()
        found = set()
        for block, state in zip(self._blocks, before, strict=True):
            if state is None:
                continue
            state = dict(state)
            for at in range(block.first, block.last):
                if at in wanted and _is_safe(self._code[at], state):
                    found.add(at)
                self._step(self._code[at], state)
        return found

    def _make_blocks(self, entered: Collection[int]) -> list[BasicBlock]:
        wanted = [each.near_branch_target for each in self._code if _is_jump(each)]
        targets = {self._index[ip] for ip in wanted if ip in self._index}
        from_elsewhere = {at for ip in (*entered, *wanted) for at in self._unseen_entries(ip)}
        from_elsewhere |= {self._index[ip] for ip in entered if ip in self._index}
        starts = {0} | from_elsewhere | targets
        unseen = set()  # reached neither by a direct jump nor from above
        for at, instruction in enumerate(self._code[:-1], start=1):
            if instruction.flow_control not in _ENDS and not _is_jump(instruction):
                continue
            starts.add(at)
            if instruction.flow_control in _ENDS and not self._is_padding(at, targets):
                unseen.add(at)
        ordered = sorted(starts)
        limits = [*ordered[1:], len(self._code)]
        unseen |= from_elsewhere | {0}
        return [
            BasicBlock(first, last, first in unseen)
            for first, last in zip(ordered, limits, strict=True)
        ]

    def _unseen_entries(self, target: int) -> Iterator[int]:
        """The successor of an instruction whose middle is a jump target, behind its prefix."""
        first, last = self._code[0].ip, self._code[-1].ip
        if first < target < last and target not in self._index:
            yield bisect_left(self._code, target, key=lambda each: each.ip)

    def _is_padding(self, at: int, targets: Collection[int]) -> bool:
        """Whether the code after a jump is a jump target, or no-ops before one."""
        while at < len(self._code) and at not in targets:
            if self._code[at].mnemonic not in _PADDING:
                return False
            at += 1
        return True

    def _solve(self) -> list[State | None]:
        """The state before each block; None if the block is unreachable."""
        nothing: State = {Register.RSP: Known.OWN}
        before: list[State | None] = [
            dict(nothing) if block.entered else None for block in self._blocks
        ]
        work = [at for at, block in enumerate(self._blocks) if block.entered]
        while work:
            at = work.pop()
            for follower, state in self._after(self._blocks[at], before[at] or {}):
                old = before[follower]
                new = state if old is None else _join(old, state)
                if new != old:
                    before[follower] = new
                    work.append(follower)
        return before

    def _after(self, block: BasicBlock, before: State) -> Iterator[tuple[int, State]]:
        """The successors of a block, with the state on each edge."""
        state = dict(before)
        for instruction in self._code[block.first : block.last]:
            self._step(instruction, state)
        last = self._code[block.last - 1]
        tested = self._tested_register(block)
        zero = None
        if tested is not None and last.mnemonic in (Mnemonic.JE, Mnemonic.JNE):
            zero = last.condition_code == ConditionCode.E
        if _is_jump(last):
            target = self._index.get(last.near_branch_target)
            if target is not None:
                yield self._block_at[target], _with_aligned(state, tested, zero is True)
        if last.flow_control not in _ENDS and block.last < len(self._code):
            yield self._block_at[block.last], _with_aligned(state, tested, zero is False)

    def _tested_register(self, block: BasicBlock) -> int | None:
        """The register whose low four bits the block's last comparison tests for zero."""
        for at in range(block.last - 2, block.first - 1, -1):
            instruction = self._code[at]
            if instruction.rflags_modified:
                return _tested(instruction)
            if any(True for _ in written_general_registers(instruction)):
                return None
        return None

    def _step(self, instruction: Instruction, state: State) -> None:
        """The transfer function of one instruction; changes `state`."""
        if instruction.flow_control in _CALLS:
            target = instruction.near_branch_target if _has_target(instruction) else 0
            if target and not self._keeps_registers(target):
                state.clear()
            for clobbered in _CALLER_SAVED:
                state.pop(clobbered, None)
            state[Register.RSP] = Known.OWN
            return
        if instruction.mnemonic == Mnemonic.XCHG and instruction.op1_kind == OpKind.REGISTER:
            _exchange(instruction, state)
            return
        value = _result(instruction, state)
        for register in written_general_registers(instruction):
            state.pop(register, None)
        if value is not None:
            state[Registers.full_register(instruction.op0_register)] = value
        state[Register.RSP] = Known.OWN


def _is_jump(instruction: Instruction) -> bool:
    return instruction.flow_control in _JUMPS


def _has_target(instruction: Instruction) -> bool:
    """Whether the instruction has a branch target; system calls have none."""
    return instruction.op_count == 1 and instruction.op0_kind == OpKind.NEAR_BRANCH64


def _join(one: State, other: State) -> State:
    return {register: known for register, known in one.items() if other.get(register) == known}


def _with_aligned(state: State, register: int | None, holds: bool) -> State:
    if register is None or not holds or state.get(register) == Known.OWN:
        return state
    return {**state, register: Known.ALIGNED}


def _tested(instruction: Instruction) -> int | None:
    """`test $15, register`, or a mask with more low bits."""
    if instruction.mnemonic != Mnemonic.TEST or instruction.op1_kind not in _IMMEDIATES:
        return None
    register = instruction.op0_register
    if instruction.op0_kind != OpKind.REGISTER or register in _HIGH_BYTES:
        return None
    if instruction.immediate(1) & _LOW_BITS != _LOW_BITS:
        return None
    return int(Registers.full_register(register))


def _exchange(instruction: Instruction, state: State) -> None:
    one = Registers.full_register(instruction.op0_register)
    other = Registers.full_register(instruction.op1_register)
    first, second = state.pop(one, None), state.pop(other, None)
    if Registers.size(instruction.op0_register) == 8:
        if first is not None:
            state[other] = first
        if second is not None:
            state[one] = second


def _is_safe(instruction: Instruction, state: State) -> bool:
    base = state.get(Registers.full_register(instruction.memory_base))
    if instruction.memory_index == Register.NONE:
        index = Known.ALIGNED
    else:
        found = state.get(Registers.full_register(instruction.memory_index))
        if found != Known.ALIGNED:
            return False
        index = found
    if base == Known.OWN:
        return True
    aligned = instruction.memory_displacement % _ALIGNMENT == 0
    return base == Known.ALIGNED and index == Known.ALIGNED and aligned


def _result(instruction: Instruction, state: State) -> Known | None:
    """The value of the first operand's register after the instruction; None if it is unknown."""
    if instruction.op_count < 1 or instruction.op0_kind != OpKind.REGISTER:
        return None
    target = instruction.op0_register
    if not Registers.is_gpr(target) or target in _HIGH_BYTES:
        return None
    known = _known_result(instruction, state)
    if known == Known.OWN and Registers.size(target) != 8:
        return None
    if Registers.size(target) < 4 and instruction.mnemonic != Mnemonic.AND:
        return None
    return known


def _known_result(instruction: Instruction, state: State) -> Known | None:
    mnemonic = instruction.mnemonic
    old = state.get(Registers.full_register(instruction.op0_register))
    if mnemonic == Mnemonic.LEA:
        return _address(instruction, state)
    if mnemonic in (Mnemonic.NEG, Mnemonic.INC, Mnemonic.DEC):
        return old if (mnemonic == Mnemonic.NEG) == (old == Known.ALIGNED) else None
    if instruction.op_count == 3 and mnemonic == Mnemonic.IMUL:
        factor = instruction.immediate(2) if instruction.op2_kind in _IMMEDIATES else 1
        return Known.ALIGNED if factor % _ALIGNMENT == 0 else None
    if instruction.op_count != 2:
        return None
    if instruction.op1_kind in _IMMEDIATES:
        return _with_immediate(mnemonic, old, instruction.immediate(1))
    if instruction.op1_kind != OpKind.REGISTER:
        return None
    if instruction.op1_register in _HIGH_BYTES:
        return None
    same = instruction.op0_register == instruction.op1_register
    other = state.get(Registers.full_register(instruction.op1_register))
    return _with_register(mnemonic, old, other, same)


def _with_immediate(mnemonic: int, old: Known | None, value: int) -> Known | None:
    multiple = value % _ALIGNMENT == 0
    if mnemonic == Mnemonic.MOV:
        return Known.ALIGNED if multiple else None
    if mnemonic == Mnemonic.AND:
        if multiple:
            return old or Known.ALIGNED
        return Known.ALIGNED if old == Known.ALIGNED else None
    if mnemonic == Mnemonic.SHL:
        return Known.ALIGNED if 4 <= value < 32 or old == Known.ALIGNED else None
    if mnemonic in (Mnemonic.ADD, Mnemonic.SUB):
        return old if old == Known.OWN or multiple else None
    if mnemonic in (Mnemonic.OR, Mnemonic.XOR):
        return old if old == Known.ALIGNED and multiple else None
    return None


_COPIES = {Mnemonic.MOV, Mnemonic.MOVSXD, Mnemonic.MOVZX, Mnemonic.MOVSX}
_CONDITIONAL_COPIES = {value for name, value in vars(Mnemonic).items() if name.startswith("CMOV")}


def _with_register(
    mnemonic: int, old: Known | None, other: Known | None, same: bool
) -> Known | None:
    if mnemonic in _COPIES:
        return other if mnemonic == Mnemonic.MOV or other == Known.ALIGNED else None
    if mnemonic in _CONDITIONAL_COPIES:
        return old if old == other else None
    if mnemonic in (Mnemonic.XOR, Mnemonic.SUB) and same:
        return Known.ALIGNED
    if mnemonic == Mnemonic.AND and Known.ALIGNED in (old, other):
        return Known.ALIGNED
    if mnemonic in (Mnemonic.ADD, Mnemonic.SUB):
        return _sum(old, other, mnemonic == Mnemonic.ADD)
    if mnemonic in (Mnemonic.OR, Mnemonic.XOR) and old == other == Known.ALIGNED:
        return Known.ALIGNED
    return None


def _sum(one: Known | None, other: Known | None, commutes: bool) -> Known | None:
    if one == other == Known.ALIGNED:
        return Known.ALIGNED
    if one == Known.OWN and other == Known.ALIGNED:
        return Known.OWN
    if commutes and one == Known.ALIGNED and other == Known.OWN:
        return Known.OWN
    return None


def _address(instruction: Instruction, state: State) -> Known | None:
    """The value of an address, as of `lea`: base + index * scale + displacement."""
    if instruction.memory_base == Register.RIP:
        return Known.OWN
    if (
        Registers.size(instruction.memory_base) == 4
        or Registers.size(instruction.memory_index) == 4
    ):
        return None
    multiple = instruction.memory_displacement % _ALIGNMENT == 0
    parts = []
    for register, scale in (
        (instruction.memory_base, 1),
        (instruction.memory_index, instruction.memory_index_scale),
    ):
        if register == Register.NONE:
            continue
        known = state.get(Registers.full_register(register))
        parts.append(None if known == Known.OWN and scale != 1 else known)
    if not parts:
        return Known.ALIGNED if multiple else None
    total = parts[0] if len(parts) == 1 else _sum(parts[0], parts[1], True)
    return total if multiple or total == Known.OWN else None
