"""Finds where jumps with a displacement of 4 bytes may lead, in all code of a file."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from halo.elf.calls import PF_X
from halo.elf.image import PT_LOAD, ElfImage

_JUMP = 0xE9
_PREFIX, _CONDITIONAL = 0x0F, 0x80
_JUMP_BYTES = 5


@lru_cache(maxsize=8)
def far_jump_targets(image: ElfImage) -> NDArray[np.int64]:
    """Targets of all byte sequences that may be such a jump; ascending, shape (sequences,).

    Jumps between the parts of a function are among them, since these are in different sections.
    """
    found = [np.zeros(0, np.int64)]
    for segment in image.segments:
        if segment.kind == PT_LOAD and segment.flags & PF_X:
            code = image.data[segment.offset : segment.offset + segment.file_size]
            found.append(_targets(np.frombuffer(code, np.uint8), segment.address))
    return np.sort(np.concatenate(found))


def _targets(code: NDArray[np.uint8], address: int) -> NDArray[np.int64]:
    opcodes = code[: max(len(code) - _JUMP_BYTES + 1, 0)]
    may_jump = opcodes == _JUMP
    may_jump[1:] |= (opcodes[:-1] == _PREFIX) & (opcodes[1:] & 0xF0 == _CONDITIONAL)
    at = np.flatnonzero(may_jump)
    displacement = np.zeros(len(at), np.uint32)
    for byte in range(4):
        displacement |= code[at + 1 + byte].astype(np.uint32) << (8 * byte)
    return at + (address + _JUMP_BYTES) + displacement.view(np.int32)
