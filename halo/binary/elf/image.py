"""A 64-bit little-endian ELF file, mapped read-only: its segments and sections."""

from __future__ import annotations

import mmap
import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

PT_LOAD = 1
PT_NOTE = 4
PT_GNU_EH_FRAME = 0x6474E550
SHF_COMPRESSED = 0x800
SHT_NOBITS = 8
_ELFCOMPRESS_ZLIB = 1


class ElfError(ValueError):
    """The file is not an ELF file of the supported kind, or is damaged."""


@dataclass(frozen=True)
class Segment:
    """One program header; offsets, addresses and sizes in bytes."""

    kind: int
    offset: int
    address: int
    file_size: int
    flags: int
    memory_size: int = 0


@dataclass(frozen=True)
class ElfSection:
    """One section header; offset, address and size in bytes."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


class ElfImage:
    """Read access to one ELF file.

    Raises `ElfError` when the file cannot be read or is not 64-bit little-endian ELF.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        try:
            with open(path, "rb") as file:
                self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise ElfError(f"{path} cannot be read: {error}") from error
        if len(self.data) < 64 or self.data[:6] != b"\x7fELF\x02\x01":
            raise ElfError(f"{path} is not a 64-bit little-endian ELF file")
        try:
            self.segments = self._read_segments()
            self.sections = self._read_sections()
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise ElfError(f"{path} has damaged ELF headers") from error

    def _read_segments(self) -> tuple[Segment, ...]:
        (table,) = struct.unpack_from("<Q", self.data, 32)
        entry_size, count = struct.unpack_from("<HH", self.data, 54)
        segments = []
        for index in range(count):
            fields = struct.unpack_from("<IIQQQQQ", self.data, table + index * entry_size)
            kind, flags, offset, address, _, in_file, in_memory = fields
            segments.append(Segment(kind, offset, address, in_file, flags, in_memory))
        return tuple(segments)

    def _read_sections(self) -> tuple[ElfSection, ...]:
        (table,) = struct.unpack_from("<Q", self.data, 40)
        entry_size, count, names_index = struct.unpack_from("<HHH", self.data, 58)
        if table == 0 or count == 0:
            return ()
        headers = [
            struct.unpack_from("<IIQQQQI", self.data, table + index * entry_size)
            for index in range(count)
        ]
        names = headers[names_index][4]
        return tuple(
            ElfSection(self._string(names + name), kind, flags, address, offset, size, link)
            for name, kind, flags, address, offset, size, link in headers
        )

    def _string(self, offset: int) -> str:
        end = self.data.find(b"\0", offset)
        return self.data[offset:end].decode("utf-8", "replace")

    def section(self, name: str) -> ElfSection | None:
        """The first section of that name that has contents in the file."""
        for section in self.sections:
            if section.name == name and section.kind != SHT_NOBITS:
                return section
        return None

    def contents(self, section: ElfSection) -> bytes:
        """The section's bytes, decompressed if necessary (zlib only)."""
        raw = self.data[section.offset : section.offset + section.size]
        if not section.flags & SHF_COMPRESSED:
            return raw
        (kind,) = struct.unpack_from("<I", raw)
        if kind != _ELFCOMPRESS_ZLIB:
            raise ElfError(f"{self.path}: section {section.name} uses an unknown compression")
        try:
            return zlib.decompress(raw[24:])
        except zlib.error as error:
            raise ElfError(f"{self.path}: section {section.name} is damaged") from error

    def segment(self, kind: int) -> Segment | None:
        """The first segment of that kind."""
        return next((segment for segment in self.segments if segment.kind == kind), None)

    def file_offset(self, address: int) -> int:
        """The file offset of a virtual address; `ElfError` if the file does not contain it."""
        for segment in self.segments:
            delta = address - segment.address
            if segment.kind == PT_LOAD and 0 <= delta < segment.file_size:
                return segment.offset + delta
        raise ElfError(f"{self.path}: address {address:#x} is not in the file")


@lru_cache(maxsize=64)
def opened_image(path: str) -> ElfImage | None:
    """The file, opened once; None if it cannot be read or is not an ELF file of that kind."""
    try:
        return ElfImage(path)
    except ElfError:
        return None
