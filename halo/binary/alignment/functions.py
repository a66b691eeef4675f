"""A module's code in pieces: the functions of its call-frame records, and the code between them.

Each function is decoded from its first byte, so data between functions cannot shift instructions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from iced_x86 import Decoder, FlowControl, Instruction, Register

from halo.binary.elf.cfa import RBP
from halo.binary.elf.frames import FrameTable
from halo.binary.elf.image import PT_LOAD, SHT_NOBITS, ElfImage

_EXECUTABLE_SECTION = 4  # SHF_EXECINSTR
_EXECUTABLE_SEGMENT = 1  # PF_X
_STUB_BYTES = 16


@dataclass(frozen=True)
class Piece:
    """Code from `start` up to `end`, ELF virtual addresses.

    `known`: the piece is one whole function. `has_landing_pads`: exceptions may enter it.
    """

    start: int
    end: int
    code: bytes
    known: bool
    has_landing_pads: bool = False

    def instructions(self) -> list[Instruction]:
        """The instructions, one after the other without gaps."""
        return list(Decoder(64, self.code, ip=self.start))


class Functions:
    """The pieces of one ELF file. Raises `ElfError` if its call-frame records are damaged."""

    def __init__(self, image: ElfImage) -> None:
        self._image = image
        self._frames = FrameTable(image)
        found = sorted({span for span in self._frames.spans() if span[0] < span[1]})
        self.spans = [(start, end) for start, end, _ in found]
        self._with_handlers = {start for start, _, handlers in found if handlers}

    def pieces(self) -> Iterator[Piece]:
        """All executable code, ascending by address within each section."""
        for start, end, shift in self._executable():
            at = start
            for first, last in self.spans[bisect_left(self.spans, (start, 0)) :]:
                if last > end:
                    break
                if first < at:
                    continue
                if at < first:
                    yield self._piece(at, first, shift, False)
                yield self._piece(first, last, shift, True)
                at = last
            if at < end:
                yield self._piece(at, end, shift, False)

    def is_linkage_stub(self, address: int) -> bool:
        """Whether that code jumps through the global offset table, to another module."""
        for start, end, shift in self._executable():
            if start <= address < end:
                code = bytes(self._image.data[address + shift : address + shift + _STUB_BYTES])
                for instruction in islice(Decoder(64, code, ip=address), 2):
                    if instruction.flow_control == FlowControl.INDIRECT_BRANCH:
                        return bool(instruction.memory_base == Register.RIP)
        return False

    def starting_at(self, address: int) -> Piece | None:
        """The function that begins at the address; None if none does."""
        at = bisect_left(self.spans, (address, 0))
        if at == len(self.spans) or self.spans[at][0] != address:
            return None
        for start, end, shift in self._executable():
            if start <= address and self.spans[at][1] <= end:
                return self._piece(*self.spans[at], shift, True)
        return None

    def is_frame_pointer(self, address: int) -> bool:
        """Whether `rbp` is the frame pointer at the address."""
        row = self._frames.row_at(address)
        return row is not None and row.cfa_register == RBP

    def _piece(self, start: int, end: int, shift: int, known: bool) -> Piece:
        code = bytes(self._image.data[start + shift : end + shift])
        return Piece(start, end, code, known, known and start in self._with_handlers)

    def _executable(self) -> list[tuple[int, int, int]]:
        """Ranges (start, end, shift) of executable addresses; address + shift: file offset."""
        if self._image.sections:
            return [
                (each.address, each.address + each.size, each.offset - each.address)
                for each in self._image.sections
                if each.flags & _EXECUTABLE_SECTION and each.kind != SHT_NOBITS and each.size
            ]
        return [
            (each.address, each.address + each.file_size, each.offset - each.address)
            for each in self._image.segments
            if each.kind == PT_LOAD and each.flags & _EXECUTABLE_SEGMENT
        ]
