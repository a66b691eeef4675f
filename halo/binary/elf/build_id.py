"""Reads the build-id of an ELF file, by which plans identify a module."""

from __future__ import annotations

import struct
from pathlib import Path

from halo.binary.elf.image import PT_NOTE, ElfError, ElfImage

_NT_GNU_BUILD_ID = 3
_LONGEST = 32


def build_id_of(path: str | Path) -> str:
    """The build-id as lower-case hex; empty if there is none (no note, no file, not ELF)."""
    try:
        image = ElfImage(path)
        for segment in image.segments:
            if segment.kind == PT_NOTE:
                note = image.data[segment.offset : segment.offset + segment.file_size]
                found = _find_build_id(note)
                if found:
                    return found.hex()
    except (ElfError, struct.error):
        return ""
    return ""


def _find_build_id(notes: bytes) -> bytes:
    """The first GNU build-id of 1 to 32 bytes in a sequence of 4-byte aligned ELF notes."""
    at = 0
    while at + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, at)
        name = notes[at + 12 : at + 12 + name_size]
        start = at + 12 + (name_size + 3 & ~3)
        if kind == _NT_GNU_BUILD_ID and name == b"GNU\0" and 1 <= size <= _LONGEST:
            return notes[start : start + size]
        at = start + (size + 3 & ~3)
    return b""
