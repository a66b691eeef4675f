"""Digests of a module's content, by which builds with one build-id are told apart.

As src/base/module_digest.h computes them in memory (docs/plan-format.md).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from halo.binary.elf.image import PT_GNU_EH_FRAME, PT_LOAD, ElfError, ElfImage, Segment

_PT_DYNAMIC = 2
_EXECUTABLE, _WRITABLE, _READABLE = 1, 2, 4
_DT_TEXTREL, _DT_FLAGS, _DF_TEXTREL = 22, 30, 4
_FACTOR = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_WINDOWS, _WINDOW = 16, 1024
_RELATIVE = 0x1B


class Digest(NamedTuple):
    """Of the layout (32 bits) and of the code with it (64 bits); 0: unknown."""

    layout: int
    code: int


UNKNOWN = Digest(0, 0)


def digest_of(path: str | Path) -> Digest:
    """The digests of the ELF file; `UNKNOWN` if it cannot be read or is damaged."""
    try:
        status = os.stat(path)
        return _digest(str(path), status.st_mtime_ns, status.st_size, status.st_ino)
    except (ElfError, OSError, struct.error, IndexError):
        return UNKNOWN


@lru_cache(maxsize=256)
def _digest(path: str, _changed: int, _size: int, _inode: int) -> Digest:
    return _Digester(ElfImage(path)).digest()


class _Digester:
    def __init__(self, image: ElfImage) -> None:
        self._image = image
        self._hash = 0

    def digest(self) -> Digest:
        segments = self._image.segments
        for part in segments:
            if part.kind in (PT_LOAD, PT_GNU_EH_FRAME):
                head = (part.flags << 32 | part.kind, part.address)
                self._add(struct.pack("<4Q", *head, part.file_size, part.memory_size))
        for part in segments:
            if part.kind == PT_GNU_EH_FRAME:
                self._add_unwind_tables(part)
        layout = self._hash >> 32 or 1
        if not self._relocates_code():
            for part in segments:
                code = part.flags & 7 == _EXECUTABLE | _READABLE
                if part.kind == PT_LOAD and code:
                    self._add_samples(part.address, part.address + part.file_size)
        return Digest(layout, self._hash or 1)

    def _add(self, content: bytes) -> None:
        padded = content + bytes(-len(content) % 8)
        found = self._hash
        for (word,) in struct.iter_unpack("<Q", padded):
            found = (found + word) * _FACTOR & _MASK
        self._hash = found

    def _add_samples(self, begin: int, end: int) -> None:
        size = end - begin
        if size <= _WINDOWS * _WINDOW:
            return self._add(self._at(begin, size))
        distance = (size - _WINDOW) // (_WINDOWS - 1)
        for at in range(_WINDOWS):
            self._add(self._at(begin + at * distance, _WINDOW))

    def _at(self, address: int, size: int) -> bytes:
        if size == 0:
            return b""
        offset = self._image.file_offset(address)
        return self._image.data[offset : offset + size]

    def _add_unwind_tables(self, part: Segment) -> None:
        if self._constant_segment(part.address, part.file_size) is None:
            return
        self._add_samples(part.address, part.address + part.file_size)
        if part.file_size < 8 or self._at(part.address + 1, 1)[0] != _RELATIVE:
            return
        (distance,) = struct.unpack("<i", self._at(part.address + 4, 4))
        frames = part.address + 4 + distance
        segment = self._constant_segment(frames, 0)
        if segment is not None:
            self._add_samples(frames, segment.address + segment.file_size)

    def _constant_segment(self, begin: int, size: int) -> Segment | None:
        """The segment that contains the range, if it is readable and never written."""
        for part in self._image.segments:
            inside = 0 <= begin - part.address < part.file_size
            if part.kind == PT_LOAD and inside and size <= part.file_size - (begin - part.address):
                fits = part.flags & (_READABLE | _WRITABLE) == _READABLE
                return part if fits else None
        return None

    def _relocates_code(self) -> bool:
        return any(
            tag == _DT_TEXTREL or (tag == _DT_FLAGS and value & _DF_TEXTREL)
            for tag, value in self._dynamic()
        )

    def _dynamic(self) -> Iterator[tuple[int, int]]:
        part = self._image.segment(_PT_DYNAMIC)
        if part is None:
            return
        entries = self._image.data[part.offset : part.offset + part.file_size]
        for tag, value in struct.iter_unpack("<QQ", entries[: len(entries) // 16 * 16]):
            if tag == 0:
                return
            yield tag, value
