"""Reads instructions at addresses of an ELF file."""

from __future__ import annotations

from functools import lru_cache

from iced_x86 import Code, Decoder, Instruction

from halo.elf.calls import PF_X
from halo.elf.image import PT_LOAD, ElfImage

PF_W = 2
_MAX_BYTES = 15  # of an instruction


def code_from(image: ElfImage, address: int, size: int) -> bytes:
    """Up to `size` bytes of code from an address on; empty outside the executable segments."""
    for segment in image.segments:
        skip = address - segment.address
        if segment.kind == PT_LOAD and segment.flags & PF_X and 0 <= skip < segment.file_size:
            start = segment.offset + skip
            return bytes(image.data[start : start + min(size, segment.file_size - skip)])
    return b""


def is_constant(image: ElfImage, address: int, size: int) -> bool:
    """Whether these bytes are in a segment that may not be written."""
    return any(
        segment.kind == PT_LOAD
        and not segment.flags & PF_W
        and segment.address <= address
        and address + size <= segment.address + segment.file_size
        for segment in image.segments
    )


def instruction_at(image: ElfImage, address: int) -> Instruction | None:
    """The instruction at an address; None if there is no valid one."""
    code = code_from(image, address, _MAX_BYTES)
    if not code:
        return None
    instruction = Decoder(64, code, ip=address).decode()
    return None if instruction.code == Code.INVALID else instruction


@lru_cache(maxsize=64)
def function_code(image: ElfImage, start: int, end: int) -> tuple[Instruction, ...]:
    """The instructions of the function from `start` up to `end`."""
    return tuple(Decoder(64, code_from(image, start, end - start), ip=start))
