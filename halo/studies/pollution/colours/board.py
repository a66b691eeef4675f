"""Which memory of a process is confined by colours: the board of board.h."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

from halo.base.errors import BadInput
from halo.binary.process.colour_range import ColourRange

NAME = "/memfd:halo-colours"
_HEADER = struct.Struct("<IIIIII8x")
_RANGE = struct.Struct("<QQ")
_MAGIC = 0x31434248
_MAX_RANGES = 4096


@dataclass(frozen=True)
class Board:
    colours: ColourRange
    ranges: tuple[tuple[int, int], ...]  # addresses: begin and end
    mappings: int  # of the process


def read_board(process: int) -> Board:
    """`BadInput` if there is no such process, or nothing of it is confined by colours."""
    try:
        with open(f"/proc/{process}/maps", errors="replace") as file:
            maps = file.read().splitlines()
        at = next((int(line.split("-")[0], 16) for line in maps if NAME in line), None)
        content = _read(process, at) if at is not None else None
    except OSError as error:
        raise BadInput(f"Process {process} cannot be read: {error.strerror}.") from None
    if content is None:
        raise BadInput(
            f"Process {process} has no memory that is confined by colours; start it with:"
            " halo exec --watch --colours"
        )
    colours, ranges = content
    return Board(colours, ranges, len(maps))


def _read(process: int, at: int) -> tuple[ColourRange, tuple[tuple[int, int], ...]] | None:
    """Nothing if it is another process's board, which a clone of its memory has."""
    file = os.open(f"/proc/{process}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        header = os.pread(file, _HEADER.size, at)
        if len(header) < _HEADER.size:
            return None
        magic, owner, low, high, total, count = _HEADER.unpack(header)
        if magic != _MAGIC or owner != process or count > _MAX_RANGES:
            return None
        table = os.pread(file, count * _RANGE.size, at + _HEADER.size)
    finally:
        os.close(file)
    if len(table) < count * _RANGE.size:
        return None
    ranges = tuple(one for one in _RANGE.iter_unpack(table) if one[0] != 0)
    return ColourRange(low, high, total), ranges
