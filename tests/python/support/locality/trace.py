"""Reads an object trace (`src/recorder/objects/format.h`), plainly."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow

HEAD, BLOCK = 16, struct.Struct("<IIIIQ")
SAME, OTHER, OUTSIDE = 0, 1, 2
THREAD, ALLOCATE, DEFINE, FREE, REVIVE, HUGE, ALIGN, REALLOCATE, PHASE, SKIP = range(0x80, 0x8A)


@dataclass(frozen=True)
class Event:
    """`kind` is `allocate`, `free` or `access`; `number` is 0 for memory outside objects.

    `address` is that of the object, or of the access.
    """

    kind: str
    number: int
    address: int = 0
    size: int = 0
    context: int = 0
    store: bool = False


class Operands:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def next(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self) -> int:
        value = self.next()
        return value >> 1 ^ -(value & 1)


class Reader:
    def __init__(self) -> None:
        self.newest = self.skipped = self.address = self.thread = 0
        self.last: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        self.addresses: dict[int, int] = {}

    def events(self, path: Path) -> Iterator[Event]:
        data, at = path.read_bytes(), HEAD
        codec = pyarrow.Codec("zstd")
        while at < len(data):
            _, ops, operands, packed, _ = BLOCK.unpack_from(data, at)
            at += BLOCK.size
            if ops:
                both = codec.decompress(data[at : at + packed], ops + operands, asbytes=True)
                given = Operands(both[ops:])
                for op in both[:ops]:
                    yield from self.event(op, given)
            at += packed

    def event(self, op: int, given: Operands) -> Iterator[Event]:
        if op < 0x80:
            yield self.access(op, given)
        elif op >= 0xC0:
            if op & 63 == 63:
                given.next()
        elif op in (ALLOCATE, DEFINE):
            yield self.allocation(op, given)
        elif op == FREE:
            yield Event("free", self.newest - given.signed())
        elif op == THREAD:
            self.thread = given.next()
        elif op == SKIP:
            self.skipped = given.next()
        else:
            for _ in range({REVIVE: 1, ALIGN: 1, REALLOCATE: 2, HUGE: 2, PHASE: 2}[op]):
                given.next()

    def allocation(self, op: int, given: Operands) -> Event:
        if op == ALLOCATE:
            number, self.skipped = self.newest + self.skipped + 1, 0
        else:
            number = given.next()
        self.newest = max(self.newest, number)
        self.address += given.signed()
        size, context = given.next(), given.next()
        self.addresses[number] = self.address
        return Event("allocate", number, self.address, size, context)

    def access(self, op: int, given: Operands) -> Event:
        size = given.next() if op & 7 == 7 else 1 << (op & 7)
        store, state = bool(op & 8), self.last[self.thread]
        target = op >> 4
        if target == OUTSIDE:
            state[2] = (state[2] + given.signed()) % 2**64
            return Event("access", 0, state[2], size, store=store)
        if target == SAME:
            state[1] += given.signed()
        else:
            state[0] += given.signed()
            state[1] = given.next()
        return Event("access", state[0], self.addresses[state[0]] + state[1], size, store=store)
