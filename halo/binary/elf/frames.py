"""Call-frame records of one module: finds the FDE of an address and evaluates its rows.

`.eh_frame_hdr` holds a sorted table of (function, record), so that a look-up reads one record (LSB
core specification, exception frames). Files without that table are scanned once as a whole:
`.eh_frame` if there is one, else `.debug_frame` (DWARF 5, section 6.4.1).
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap

from halo.binary.elf.cfa import CallFrameRow, CfaMachine, Scale
from halo.binary.elf.image import PT_GNU_EH_FRAME, PT_LOAD, ElfError, ElfImage
from halo.binary.elf.reader import Reader

_TABLE_ENCODING = 0x3B  # datarel | sdata4: what every linker writes


@dataclass(frozen=True)
class FrameRecords:
    """Bytes with call-frame records, which are identified by their position in `data`."""

    data: bytes | mmap
    bias: int
    start: int
    end: int
    is_eh: bool


@dataclass(frozen=True)
class Cie:
    """A common information entry, which the records of one compilation unit share."""

    scale: Scale
    has_augmentation: bool
    has_handlers: bool  # its functions may have landing pads of exceptions
    signal_frame: bool
    row: CallFrameRow


@dataclass(frozen=True)
class Fde:
    """The record of one function: code from `start` up to `end`, program at `position`."""

    cie: Cie
    start: int
    end: int
    position: int
    limit: int


class FrameTable:
    """All call-frame records of one ELF file, parsed on demand."""

    def __init__(self, image: ElfImage) -> None:
        self._cies: dict[int, Cie] = {}
        self._starts: list[int] | array[int] = []
        self._records: list[int] | array[int] = []
        self._base = 0
        self._record_bias = 0
        self._source: FrameRecords | None = None
        try:
            self._source = _find_source(image)
            if self._source is None:
                return
            if not (self._source.is_eh and self._load_search_table(image)):
                self._scan()
        except (struct.error, IndexError, ElfError) as error:
            raise ElfError(f"{image.path}: the call-frame records are damaged") from error

    def __len__(self) -> int:
        return len(self._starts)

    def find(self, address: int) -> Fde | None:
        """The record of the function that holds this address."""
        index = bisect_right(self._starts, address - self._base) - 1
        if index < 0:
            return None
        fde = self._fde(self._records[index] + self._record_bias)
        return fde if fde is not None and fde.start <= address < fde.end else None

    def row_at(self, address: int) -> CallFrameRow | None:
        """The row in force at this address; None outside functions and in signal frames."""
        try:
            fde = self.find(address)
            if fde is None or fde.cie.signal_frame:
                return None
            machine, reader = self._machine(fde)
            return machine.run(reader, fde.limit, address)
        except (struct.error, IndexError):
            return None

    def functions(self) -> Iterator[list[tuple[int, CallFrameRow]]]:
        """The rows (first address, row) of every function."""
        for fde in self._fdes():
            machine, reader = self._machine(fde)
            try:
                yield machine.rows(reader, fde.limit)
            except (struct.error, IndexError) as error:
                raise ElfError("its call-frame records are damaged") from error

    def spans(self) -> Iterator[tuple[int, int, bool]]:
        """(start, end, has_handlers) of every function; addresses."""
        for fde in self._fdes():
            yield fde.start, fde.end, fde.cie.has_handlers

    def _fdes(self) -> Iterator[Fde]:
        """The records of all functions; `ElfError` at a damaged one."""
        for record in self._records:
            try:
                fde = self._fde(record + self._record_bias)
            except (struct.error, IndexError) as error:
                raise ElfError("its call-frame records are damaged") from error
            if fde is not None:
                yield fde

    def _machine(self, fde: Fde) -> tuple[CfaMachine, Reader]:
        assert self._source is not None
        machine = CfaMachine(fde.cie.scale, fde.start)
        machine.row = machine.initial = fde.cie.row
        return machine, Reader(self._source.data, fde.position, self._source.bias)

    def _load_search_table(self, image: ElfImage) -> bool:
        """Reads the linker's search table; False if there is none."""
        header = image.segment(PT_GNU_EH_FRAME)
        if header is None:
            return False
        reader = Reader(image.data, header.offset, header.address - header.offset)
        version, frame, count, table = (reader.u8() for _ in range(4))
        if version != 1 or table != _TABLE_ENCODING:
            return False
        reader.pointer(frame, header.address)
        entries = reader.pointer(count, header.address)
        if entries is None:
            return False
        rows = array("i")
        rows.frombytes(image.data[reader.position : reader.position + entries * 8])
        self._base = header.address
        self._starts, self._records = rows[0::2], rows[1::2]
        assert self._source is not None
        self._record_bias = header.address - self._source.bias
        return True

    def _scan(self) -> None:
        """Builds the search table from the records themselves."""
        assert self._source is not None
        found = []
        position = self._source.start
        while position + 4 <= self._source.end:
            size = _record_size(self._source.data, position)
            if size == 4:
                if self._source.is_eh:
                    break
                position += 4
                continue
            fde = self._fde(position)
            if fde is not None:
                found.append((fde.start, position))
            position += size
        found.sort()
        self._starts = [start for start, _ in found]
        self._records = [record for _, record in found]

    def _fde(self, record: int) -> Fde | None:
        """Parses the record at a position; None for a CIE and for unsupported records."""
        assert self._source is not None
        source = self._source
        size = _record_size(source.data, record)
        wide = size > 0xFFFFFFFF or source.data[record : record + 4] == b"\xff" * 4
        reader = Reader(source.data, record + (12 if wide else 4), source.bias)
        at = reader.position
        link = reader.fixed("<Q", 8) if wide and not source.is_eh else reader.fixed("<I", 4)
        if source.is_eh:
            if link == 0:
                return None
            cie = self._cie(at - link)
        else:
            if link in (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF):
                return None
            cie = self._cie(source.start + link)
        start = reader.pointer(cie.scale.encoding) or 0
        length = reader.raw(cie.scale.encoding)
        if cie.has_augmentation:
            skip = reader.uleb()
            reader.position += skip
        return Fde(cie, start, start + length, reader.position, record + size)

    def _cie(self, record: int) -> Cie:
        cie = self._cies.get(record)
        if cie is None:
            assert self._source is not None
            cie = self._cies[record] = _parse_cie(self._source, record)
        return cie


def _find_source(image: ElfImage) -> FrameRecords | None:
    """`.eh_frame` by its section, or through the header's pointer; else `.debug_frame`."""
    section = image.section(".eh_frame")
    if section is not None and section.size > 4:
        end = section.offset + section.size
        return FrameRecords(image.data, section.address - section.offset, section.offset, end, True)
    header = image.segment(PT_GNU_EH_FRAME)
    if not image.sections and header is not None:
        reader = Reader(image.data, header.offset + 1, header.address - header.offset)
        encoding = reader.u8()
        reader.position += 2
        address = reader.pointer(encoding, header.address) or 0
        for segment in image.segments:
            if segment.kind == PT_LOAD and 0 <= address - segment.address < segment.file_size:
                bias = segment.address - segment.offset
                end = segment.offset + segment.file_size
                return FrameRecords(image.data, bias, address - bias, end, True)
    section = image.section(".debug_frame")
    if section is not None:
        data = image.contents(section)
        return FrameRecords(data, 0, 0, len(data), False)
    return None


def _record_size(data: bytes | mmap, position: int) -> int:
    """Bytes of a whole record, its length field included; 4 for a terminator."""
    (length,) = struct.unpack_from("<I", data, position)
    if length != 0xFFFFFFFF:
        return int(length) + 4
    (length,) = struct.unpack_from("<Q", data, position + 4)
    return int(length) + 12


def _parse_cie(source: FrameRecords, record: int) -> Cie:
    size = _record_size(source.data, record)
    wide = source.data[record : record + 4] == b"\xff" * 4
    reader = Reader(source.data, record + (12 if wide else 4), source.bias)
    reader.position += 8 if wide and not source.is_eh else 4
    version = reader.u8()
    augmentation = reader.c_string()
    if version >= 4:
        reader.position += 2  # address size, segment selector size
    code, data = reader.uleb(), reader.sleb()
    if version == 1:
        reader.u8()
    else:
        reader.uleb()
    encoding = 0x00
    if augmentation and not augmentation.startswith(b"z"):
        raise IndexError(f"unknown augmentation {augmentation!r}")
    if augmentation:
        after = reader.uleb()
        after += reader.position
        encoding = _pointer_encoding(augmentation, reader)
        reader.position = after
    scale = Scale(code, data, encoding)
    row = CfaMachine(scale, 0).run(reader, record + size)
    handlers = b"L" in augmentation
    return Cie(scale, bool(augmentation), handlers, b"S" in augmentation, row)


def _pointer_encoding(augmentation: bytes, reader: Reader) -> int:
    """The encoding of code addresses in the FDEs (augmentation `R`); absolute by default."""
    encoding = 0x00
    for letter in augmentation[1:]:
        if letter == ord("R"):
            encoding = reader.u8()
        elif letter == ord("P"):
            reader.raw(reader.u8())
        elif letter == ord("L"):
            reader.u8()
        elif letter not in b"SB":
            break
    return encoding
