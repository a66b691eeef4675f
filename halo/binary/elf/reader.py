"""A cursor over DWARF-encoded bytes: fixed-size integers, LEB128 and encoded pointers."""

from __future__ import annotations

import struct
from mmap import mmap

_PTR_OMIT = 0xFF
_FIXED = {
    0x0: ("<Q", 8),  # absptr
    0x2: ("<H", 2),
    0x3: ("<I", 4),
    0x4: ("<Q", 8),
    0xA: ("<h", 2),
    0xB: ("<i", 4),
    0xC: ("<q", 8),
}
_PCREL = 0x10
_DATAREL = 0x30
ADDRESS_MASK = (1 << 64) - 1


class Reader:
    """Reads forwards from `position`; `bias` + position is the virtual address of a byte.

    Reading past the end raises `struct.error` or `IndexError`; callers raise `ElfError` from them.
    """

    __slots__ = ("bias", "data", "position")

    def __init__(self, data: bytes | mmap, position: int, bias: int) -> None:
        self.data = data
        self.position = position
        self.bias = bias

    def u8(self) -> int:
        value = self.data[self.position]
        self.position += 1
        return value

    def fixed(self, code: str, size: int) -> int:
        (value,) = struct.unpack_from(code, self.data, self.position)
        self.position += size
        return int(value)

    def uleb(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def sleb(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if byte & 0x40 else value

    def c_string(self) -> bytes:
        end = self.data.find(b"\0", self.position)
        text = self.data[self.position : end]
        self.position = end + 1
        return text

    def raw(self, encoding: int) -> int:
        """A value by the format half of a pointer encoding, without any base."""
        form = encoding & 0x0F
        if form in _FIXED:
            return self.fixed(*_FIXED[form])
        if form == 0x1:
            return self.uleb()
        if form == 0x9:
            return self.sleb()
        raise IndexError(f"unknown pointer encoding {encoding:#x}")

    def pointer(self, encoding: int, data_base: int = 0) -> int | None:
        """A DWARF exception-header encoded pointer as a virtual address; None if omitted."""
        if encoding == _PTR_OMIT:
            return None
        here = self.bias + self.position
        value = self.raw(encoding)
        application = encoding & 0x70
        if application == _PCREL:
            value += here
        elif application == _DATAREL:
            value += data_base
        elif application:
            raise IndexError(f"unsupported pointer encoding {encoding:#x}")
        return value & ADDRESS_MASK
