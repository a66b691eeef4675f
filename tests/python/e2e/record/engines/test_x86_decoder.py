"""The recorders' decoder and iced-x86 agree about the instructions of real libraries."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from iced_x86 import Code, Decoder, FlowControl, Instruction, Mnemonic, OpKind, Register
from iced_x86 import MemorySizeExt as MemorySizes

from halo.binary.alignment.demands import demanding_codes, has_memory
from halo.binary.elf.image import ElfImage
from support.command import BUILD

INSPECT = BUILD / "bin" / "halo-inspect-code"
LIBRARIES = Path("/lib/x86_64-linux-gnu")
EXECUTABLE = 1

NONE, CALL, RETURN, MOVE_STACK = range(4)
FLOWS = {
    FlowControl.CALL: CALL,
    FlowControl.INDIRECT_CALL: CALL,
    FlowControl.RETURN: RETURN,
}
FRAME = {Register.RSP, Register.RBP}
KEPT = FRAME | {Register.RBX, Register.R12, Register.R13, Register.R14, Register.R15}
PUSHES = {Code.PUSH_R64, Code.PUSH_R16, Code.POP_R64, Code.POP_R16}
CLASSES = {16: 1, 32: 2, 64: 3, 512: 1}  # by bytes; fxsave's 512 must be aligned to 16


class Facts(NamedTuple):
    flow: int
    alignment_class: int
    only_stack: bool


def flow(it: Instruction) -> int:
    if it.mnemonic == Mnemonic.SYSCALL:
        return NONE
    return MOVE_STACK if moves_stack(it) else FLOWS.get(it.flow_control, NONE)


def moves_stack(it: Instruction) -> bool:
    """Whether it loads the stack pointer, but for what ends a variable-length array."""
    written = [it.op0_register, it.op1_register][: 2 if it.mnemonic == Mnemonic.XCHG else 1]
    if (
        it.mnemonic not in (Mnemonic.POP, Mnemonic.MOV, Mnemonic.XCHG)
        or Register.RSP not in written
    ):
        return False
    if has_memory(it):
        return it.memory_base not in FRAME
    from_register = it.op1_kind == OpKind.REGISTER and it.op1_register not in KEPT
    return it.mnemonic != Mnemonic.MOV or from_register


def facts(it: Instruction) -> Facts:
    demands = has_memory(it) and it.code in demanding_codes()
    bytes_ = MemorySizes.size(it.memory_size)
    return Facts(
        flow(it),
        CLASSES.get(bytes_, 3) if demands else 0,
        it.memory_base == Register.RSP if has_memory(it) else it.code in PUSHES,
    )


def code_of(path: Path) -> dict[bytes, Instruction]:
    """The instructions in a file's code that have different bytes."""
    image = ElfImage(path)
    found = {}
    for segment in image.segments:
        if segment.kind != 1 or not segment.flags & EXECUTABLE:
            continue
        code = image.data[segment.offset : segment.offset + segment.file_size]
        for it in Decoder(64, code):
            if it.code != Code.INVALID:
                found[bytes(code[it.ip : it.ip + it.len])] = it.copy()
    return found


@pytest.mark.parametrize("library", ["libc.so.6", "libm.so.6", "libstdc++.so.6"])
def test_both_decoders_agree(library: str) -> None:
    code = code_of(LIBRARIES / library)
    assert len(code) > 10_000
    text = "\n".join(each.hex() for each in code)
    run = subprocess.run([INSPECT], input=text, capture_output=True, text=True, check=True)
    different = []
    for (each, it), line in zip(code.items(), run.stdout.splitlines(), strict=True):
        wanted = facts(it)
        flow_found, class_found, on_stack = map(int, line.split())
        got = Facts(flow_found, class_found, bool(on_stack))
        touches = has_memory(it) or it.code in PUSHES
        if got[:2] != wanted[:2] or (touches and got.only_stack != wanted.only_stack):
            different.append((each.hex(), str(it), got, wanted))
    assert different == []
