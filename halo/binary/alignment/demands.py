"""Instructions that require aligned memory, and their unaligned equivalents.

Intel SDM, volume 1, section 4.1.1 and volume 2, exception types 1, 2 and 4: a legacy SSE
instruction with a whole vector in memory requires 16 bytes, except the moves for unaligned data. In
the VEX and EVEX encodings only the aligned and the non-temporal moves do.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple, cast

from iced_x86 import Code, Decoder, EncodingKind, Instruction, Mnemonic, OpCodeInfo, OpKind
from iced_x86 import MemorySizeExt as MemorySizes

_VECTOR_BYTES = 16
_NAMES = {value: name for name, value in vars(Code).items() if name.isupper()}
_UNALIGNED = {
    value
    for name, value in vars(Mnemonic).items()
    if re.match(r"(MOVUP[SD]|MOVDQU|LDDQU|PCMP[EI]STR[IM])", name)
}
_ALIGNED_MOVE = re.compile(r"(E?VEX_V)?MOV(APS|APD|DQA|DQA32|DQA64)_")
_NON_TEMPORAL = re.compile(r"E?VEX_VMOVNT(PS|PD|DQ|DQA)_")
_STATE = re.compile(r"(FXSAVE|FXRSTOR|XSAVE|XRSTOR|CMPXCHG16B|MOVDIR64B|ENQCMD)")


class Patch(NamedTuple):
    """The byte that turns an instruction into its unaligned equivalent.

    `at`: bytes from the instruction's start; `before` and `after`: the byte's values.
    """

    at: int
    before: int
    after: int


@cache
def demanding_codes() -> frozenset[int]:
    """The instruction codes of which a memory operand must be aligned to 16 bytes or more."""
    return frozenset(code for code, name in _NAMES.items() if _demands(code, name))


def _demands(code: int, name: str) -> bool:
    if _ALIGNED_MOVE.match(name) or _NON_TEMPORAL.match(name) or _STATE.match(name):
        return True
    info = OpCodeInfo(cast(Any, code))
    if not info.is_instruction or info.encoding != EncodingKind.LEGACY:
        return False
    return MemorySizes.size(info.memory_size) == _VECTOR_BYTES and info.mnemonic not in _UNALIGNED


def has_memory(instruction: Instruction) -> bool:
    """Whether an operand is in memory that a base register, an index or an address names."""
    return any(
        instruction.op_kind(operand) == OpKind.MEMORY for operand in range(instruction.op_count)
    )


def unaligned_twin(instruction: Instruction, code: bytes) -> Patch | None:
    """The patch that makes `code`, the instruction's bytes, an unaligned move; None if impossible.

    The unaligned move has the same length and operands and differs in one byte: the opcode (28, 29
    become 10, 11) or the prefix (66 becomes F3).
    """
    name = _NAMES[instruction.code]
    if not _ALIGNED_MOVE.match(name):
        return None
    wanted = getattr(Code, re.sub("MOVAP", "MOVUP", name).replace("MOVDQA", "MOVDQU"))
    for at, before in enumerate(code):
        for after in _replacements(before):
            changed = code[:at] + bytes((after,)) + code[at + 1 :]
            twin = Decoder(64, changed, ip=instruction.ip).decode()
            if twin.code == wanted and _same_operands(instruction, twin):
                return Patch(at, before, after)
    return None


def _replacements(byte: int) -> tuple[int, ...]:
    """Candidates for the byte: another opcode, prefix, or pp field of VEX and EVEX."""
    opcodes = {0x28: (0x10,), 0x29: (0x11,), 0x66: (0xF3,)}
    pp_of_f3 = (byte ^ 3,) if byte & 3 == 1 else ()
    return opcodes.get(byte, ()) + pp_of_f3


def _same_operands(one: Instruction, other: Instruction) -> bool:
    return (
        one.len == other.len
        and one.op_count == other.op_count
        and all(
            one.op_kind(at) == other.op_kind(at) and one.op_register(at) == other.op_register(at)
            for at in range(one.op_count)
        )
        and one.memory_base == other.memory_base
        and one.memory_index == other.memory_index
        and one.memory_index_scale == other.memory_index_scale
        and one.memory_displacement == other.memory_displacement
        and one.memory_segment == other.memory_segment
        and one.op_mask == other.op_mask
        and one.zeroing_masking == other.zeroing_masking
    )
