"""Finds call instructions that the runtime can redirect by changing their 4-byte displacement."""

from __future__ import annotations

import struct

from halo.binary.elf.image import PT_LOAD, opened_image

PF_X = 1
_DIRECT_CALL = 0xE8
_CALL_BYTES = 5


def why_not_redirected(path: str, return_address: int) -> str:
    """The reason why the call that returns there cannot be redirected; empty if it can.

    It can be redirected if it is `call rel32` with a target in the executable segments of its own
    file, PLT included. Other bytes that resemble a call have a target outside the file.
    """
    image = opened_image(path)
    if image is None:
        return "no file"
    code = [s for s in image.segments if s.kind == PT_LOAD and s.flags & PF_X]
    for segment in code:
        at = return_address - _CALL_BYTES - segment.address
        if 0 <= at <= segment.file_size - _CALL_BYTES:
            start = segment.offset + at
            opcode, displacement = struct.unpack_from("<Bi", image.data, start)
            if opcode != _DIRECT_CALL:
                return "not a direct call"
            target = return_address + displacement
            if any(0 <= target - other.address < other.file_size for other in code):
                return ""
            return "not a direct call"
    return "not in the file's code"
