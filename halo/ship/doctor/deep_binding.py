"""Finds calls of dlopen whose flags are a constant that includes RTLD_DEEPBIND.

A library opened with it binds to the C library's malloc instead of a preloaded one. The search
finds constants that are loaded shortly before the call, but not computed flags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halo.binary.elf import ElfError
from halo.binary.elf.image import PT_LOAD
from halo.ship.doctor.module import LinkedModule

DEEP_BINDING = 0x8
_LAZY_OR_NOW = 0x3
_ALL_FLAGS = 0x110F
_RELOCATION = np.dtype([("place", "<u8"), ("info", "<u8"), ("addend", "<i8")])
_EXECUTABLE = 1
# Bytes from a PLT entry to its jump: for `endbr64`, `bnd`, both, neither.
_ENTRY_STARTS = (0, 1, 4, 5)
_MOV_TO_ESI = re.compile(rb"\xbe(....)", re.DOTALL)
_LOOK_BACK = 64
"""Bytes before a call that are searched for its flags."""

Code = NDArray[np.uint8]


def deep_binding_calls(module: LinkedModule) -> int:
    """The number of dlopen calls in a module with a constant RTLD_DEEPBIND."""
    slots = _slots(module, "dlopen")
    return sum(_count(code, address, slots) for address, code in _code(module)) if slots.size else 0


def _slots(module: LinkedModule, name: str) -> NDArray[np.uint64]:
    """The addresses of the slots that the loader fills with a function's address."""
    wanted = module.exported.indices(name)
    found: list[NDArray[Any]] = [np.zeros(0, np.uint64)]
    for table in module.relocations:
        try:
            start = module.image.file_offset(table.address)
        except ElfError:
            continue
        size = table.size - table.size % _RELOCATION.itemsize
        rows = np.frombuffer(module.image.data[start : start + size], _RELOCATION)
        found.append(rows["place"][np.isin(rows["info"] >> np.uint64(32), wanted)])
    return np.concatenate(found)


def _code(module: LinkedModule) -> Iterator[tuple[int, Code]]:
    """The executable parts of a module, each with its address."""
    data = module.image.data
    table = int.from_bytes(data[32:40], "little")
    entry = int.from_bytes(data[54:56], "little")
    for number, segment in enumerate(module.image.segments):
        flags = data[table + number * entry + 4]
        if segment.kind == PT_LOAD and flags & _EXECUTABLE:
            end = segment.offset + segment.file_size
            yield segment.address, np.frombuffer(data[segment.offset : end], np.uint8)


def _count(code: Code, address: int, slots: NDArray[np.uint64]) -> int:
    through_slot = _branches(code, address, (b"\xff\x15", b"\xff\x25"), slots)
    entries = {address + int(at) - back for at in through_slot for back in _ENTRY_STARTS}
    direct = _branches(code, address, (b"\xe8", b"\xe9"), np.array(sorted(entries), np.uint64))
    return sum(_flags_before(code, int(at)) & DEEP_BINDING != 0 for at in (*through_slot, *direct))


def _branches(
    code: Code, address: int, opcodes: tuple[bytes, ...], targets: NDArray[np.uint64]
) -> NDArray[np.intp]:
    """Positions of instructions with these opcodes and a 4-byte displacement to a target."""
    length = len(opcodes[0])
    if code.size < length + 4 or not targets.size:
        return np.zeros(0, np.intp)
    last = code.size - length - 4 + 1
    hits = np.zeros(last, bool)
    for opcode in opcodes:
        match = np.ones(last, bool)
        for place, byte in enumerate(opcode):
            match &= code[place : place + last] == byte
        hits |= match
    found = np.flatnonzero(hits)
    distance = np.zeros(found.size, np.uint32)
    for byte in range(4):
        distance |= code[found + length + byte].astype(np.uint32) << np.uint32(8 * byte)
    target = address + found + length + 4 + distance.view(np.int32).astype(np.int64)
    return found[np.isin(target, targets.astype(np.int64))]


def _flags_before(code: Code, call: int) -> int:
    """The constant of the last `mov $flags, %esi` before a call; 0 if there is none."""
    window = code[max(call - _LOOK_BACK, 0) : call].tobytes()
    for place in range(len(window) - 5, -1, -1):
        found = _MOV_TO_ESI.match(window, place)
        if found is not None:
            flags = int.from_bytes(found[1], "little")
            if flags & _LAZY_OR_NOW and not flags & ~_ALL_FLAGS:
                return flags
    return 0
