"""What is known at a return address from the frame records and the code before the call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from iced_x86 import FlowControl, Instruction, Mnemonic, OpKind, Register

from halo.elf.cfa import RBP, RSP, Row
from halo.elf.frames import FrameTable
from halo.elf.image import ElfError, ElfImage
from halo.elf.registers import CALLEE_SAVED, written_registers
from halo.locations.code import function_code
from halo.locations.far_jumps import far_jump_targets
from halo.locations.frame_depth import depth_at
from halo.locations.instructions import has_equal_sources, immediate

_WORD = 8
_FULL_WIDTHS = {OpKind.IMMEDIATE32, OpKind.IMMEDIATE32TO64, OpKind.IMMEDIATE64}
_JUMPS = {FlowControl.UNCONDITIONAL_BRANCH, FlowControl.CONDITIONAL_BRANCH}
_PASSED = {FlowControl.NEXT, FlowControl.CONDITIONAL_BRANCH}


@dataclass(frozen=True)
class Arrival:
    """The machine's state when the allocator has returned.

    Offsets are in bytes from rsp, or from rbp if `frame_bytes` is None. `frame_bytes`: from rsp to
    the function's return address; None if unknown. `stack_pointer` and `frame_pointer`: the offsets
    of rsp and rbp; None if rsp is unknown, or if rbp is not the frame pointer. `constants`: numbers
    in callee-saved registers. `escapes`: addresses in the frame may be in memory or in registers.
    """

    frame_bytes: int | None = None
    stack_pointer: int | None = 0
    frame_pointer: int | None = None
    constants: Mapping[int, int] = field(default_factory=dict)
    escapes: bool = True


def arrival_at(image: ElfImage, return_address: int) -> Arrival:
    """The state at a return address; without frame records, only that rsp is at offset 0."""
    frames = _frames(image)
    row = frames.row_at(return_address - 1) if frames is not None else None
    if frames is None or row is None or not _is_supported(row):
        return Arrival()
    fde = frames.find(return_address - 1)
    assert fde is not None
    code = function_code(image, fde.start, fde.end)
    call = next((at for at, each in enumerate(code) if each.next_ip == return_address), None)
    if call is None:
        return Arrival()
    constants = _constants(image, code, call)
    escapes = any(_takes_frame_address(each, row.cfa_register == RBP) for each in code)
    if row.cfa_register == RSP:
        return Arrival(row.cfa_offset - _WORD, 0, None, constants, escapes)
    entry = frames.row_at(fde.start)
    depth = None
    if entry is not None and entry.cfa_register == RSP:
        depth = depth_at(code, code[call].ip, entry.cfa_offset - _WORD)
    if depth is None:
        return Arrival(None, None, 0, constants, escapes)
    return Arrival(depth, 0, depth + _WORD - row.cfa_offset, constants, escapes)


def _is_supported(row: Row) -> bool:
    return row.cfa_register == RBP or (row.cfa_register == RSP and row.cfa_offset >= _WORD)


@lru_cache(maxsize=16)
def _frames(image: ElfImage) -> FrameTable | None:
    try:
        return FrameTable(image)
    except ElfError:
        return None


def _constants(image: ElfImage, code: Sequence[Instruction], call: int) -> dict[int, int]:
    """Numbers that straight-line code before the call puts into callee-saved registers."""
    if any(each.flow_control == FlowControl.INDIRECT_BRANCH for each in code):
        return {}
    found: dict[int, int] = {}
    pending = set(CALLEE_SAVED)
    for instruction in _before(image, code, call):
        written = pending.intersection(written_registers(instruction))
        number = _number_moved(instruction)
        if number is not None:
            found.update(dict.fromkeys(written, number))
        pending -= written
    return found


def _before(image: ElfImage, code: Sequence[Instruction], call: int) -> Iterator[Instruction]:
    """The instructions before the call, backwards to the last one that only they lead to."""
    targets = {each.near_branch_target for each in code if each.flow_control in _JUMPS}
    far = far_jump_targets(image)
    low, high = far.searchsorted((code[0].ip, code[-1].next_ip))
    targets.update(far[low:high].tolist())
    for at in range(call, 0, -1):
        if code[at].ip in targets or code[at - 1].flow_control not in _PASSED:
            return
        yield code[at - 1]


def _number_moved(instruction: Instruction) -> int | None:
    """The number that the instruction puts into a whole register."""
    if instruction.op_count != 2 or instruction.op0_kind != OpKind.REGISTER:
        return None
    if instruction.mnemonic == Mnemonic.MOV and instruction.op1_kind in _FULL_WIDTHS:
        number = immediate(instruction, 1)
        return number & 0xFFFFFFFF if instruction.op1_kind == OpKind.IMMEDIATE32 else number
    return 0 if instruction.mnemonic == Mnemonic.XOR and has_equal_sources(instruction) else None


def _takes_frame_address(instruction: Instruction, has_frame_pointer: bool) -> bool:
    """Whether it copies an address in the frame to a register other than those of the frame."""
    bases = {Register.RSP, Register.RBP} if has_frame_pointer else {Register.RSP}
    if instruction.op_count < 2 or instruction.op0_register in bases:
        return False
    if instruction.mnemonic == Mnemonic.LEA:
        return instruction.memory_base in bases
    return any(
        instruction.op_kind(operand) == OpKind.REGISTER
        and instruction.op_register(operand) in bases
        for operand in range(1, instruction.op_count)
    )
