"""Which vector instructions demand alignment of heap objects."""

from __future__ import annotations

import re

from halo.elf.disassembly import Instruction

_VECTOR = re.compile(r"%[xyz]mm\d")
_MEMORY = re.compile(r"\((%\w+)?(?:,[^)]*)?\)")
_NOT_HEAP = {"%rsp", "%rip"}
_ALIGNED_VEX = ("vmovaps", "vmovapd", "vmovdqa", "vmovnt")
# Of the older encoding all others with a whole vector in memory demand it.
_LENIENT = re.compile(
    r"(mov([dq]|up[sd]|dqu|[lh]p[sd]|s[sd])|lddqu|pinsr.*|pextr.*|insertps|extractps|cvt.*|"
    r"pmov[sz]x.*|\w+[sd]s|\w+sd)$"
)


def demands_alignment(instruction: Instruction) -> bool:
    """True where it may demand 16 bytes or more of memory that is no stack slot.

    A file in which none does can have its objects at any multiple of eight.
    """
    memory = _MEMORY.search(instruction.operands)
    if memory is None or memory.group(1) in _NOT_HEAP:
        return False
    if not _VECTOR.search(instruction.operands):
        return False
    if instruction.mnemonic.startswith("v"):
        return instruction.mnemonic.startswith(_ALIGNED_VEX)
    return _LENIENT.match(instruction.mnemonic) is None
