"""The symbolic state of the machine behind an allocation: registers, frame and the new object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from iced_x86 import Register, Register_
from iced_x86 import RegisterExt as Registers

from halo.elf.registers import CALLEE_SAVED
from halo.locations.arrival import Arrival
from halo.locations.contents import Byte, Bytes, bytes_of, extended, unknown, value_of
from halo.locations.program import Program
from halo.locations.program import Register as AtCall
from halo.locations.symbolic import (
    FRAME,
    IMAGE,
    OBJECT,
    UNKNOWN,
    Unknown,
    Value,
    add,
    constant,
    load,
    program_of,
)

_HIGH_BYTES = {Register.AH, Register.BH, Register.CH, Register.DH}
_WORD = 8


class ObjectStore(NamedTuple):
    """Content that the instruction at an address stores at an offset in the new object."""

    offset: int
    content: Bytes
    instruction: int


class State:
    """Contents by full register, and what the followed code has stored.

    `instruction` is the address of the one that is being executed. `is_constant` tells whether the
    program cannot change some bytes of the module: their address, and how many.
    """

    def __init__(self, arrival: Arrival, is_constant: Callable[[int, int], bool]) -> None:
        self.instruction = 0
        self.object_stores: list[ObjectStore] = []
        self.null_tested = False  # the zero flag tells whether the object is null
        self._arrival = arrival
        self._is_constant = is_constant
        self._registers: dict[int, Bytes] = {Register.RAX: bytes_of(Value((OBJECT,)))}
        self._frame: dict[int, Byte] = {}
        self._object: dict[int, Byte] = {}
        self._frame_known = True  # what is not in `_frame` is as at the call
        self._frame_stored = False
        self._loads_allowed = True
        self._escapes = arrival.escapes or arrival.frame_bytes is None
        for number, register in enumerate(CALLEE_SAVED):
            value = Value((AtCall(number),))
            if register in arrival.constants:
                value = constant(arrival.constants[register])
            self._registers[register] = bytes_of(value)
        for register, offset in (
            (Register.RSP, arrival.stack_pointer),
            (Register.RBP, arrival.frame_pointer),
        ):
            if offset is not None:
                self._registers[register] = bytes_of(Value((FRAME,), offset))

    @property
    def frame_bytes(self) -> int:
        """The size of the caller's frame; 0 if it is unknown."""
        return self._arrival.frame_bytes or 0

    def register(self, register: Register_, width: int) -> Bytes:
        """The low `width` bytes of a register."""
        content = self._registers.get(Registers.full_register(register), ())
        if register in _HIGH_BYTES:
            return unknown(width)
        return (content + unknown(width))[:width]

    def value(self, register: Register_) -> Value:
        """The value of a general register of 64 bits."""
        return value_of(self.register(register, _WORD))

    def is_object(self, content: Bytes) -> bool:
        """Whether the content is the address of the new object."""
        return content == bytes_of(Value((OBJECT,)))

    def set_register(self, register: Register_, content: Bytes) -> None:
        """Writes a register of any width; 32 bits clear the upper half of a general register."""
        full = Registers.full_register(register)
        if Registers.is_gpr(register) and Registers.size(register) < _WORD:
            if Registers.size(register) == 4:
                content = extended(content, _WORD)
            elif register in _HIGH_BYTES:
                content = ()
            else:
                content += self.register(full, _WORD)[len(content) :]
        self._registers[full] = content

    def forget_register(self, register: int) -> None:
        """Makes a full register unknown."""
        self._registers.pop(register, None)

    def load(self, address: Value, width: int) -> Bytes:
        """The bytes in memory at an address."""
        if address.terms == (OBJECT,):
            nothing = Byte(UNKNOWN, 0)
            span = range(address.added, address.added + width)
            return tuple(self._object.get(at, nothing) for at in span)
        content: Bytes = ()
        for at, size in _chunks(width):
            content += self._load_chunk(add(address, constant(at)), size)
        return content

    def _load_chunk(self, address: Value, width: int) -> Bytes:
        in_frame = address.terms == (FRAME,)
        if address.terms == (IMAGE,) and self._is_constant(address.added, width):
            return bytes_of(load(address, width, late=False), width)
        if in_frame:
            span = range(address.added, address.added + width)
            stored = [self._frame.get(at) for at in span]
            if any(stored):
                return tuple(byte or Byte(UNKNOWN, 0) for byte in stored)
            if not self._frame_known or span.stop > self.frame_bytes:
                return unknown(width)
        elif FRAME in address.terms and (self._frame_stored or not self._frame_known):
            return unknown(width)
        if not self._loads_allowed:
            return unknown(width)
        value = load(address, width, self._frame_stored and not in_frame)
        return unknown(width) if self.program(value) is None else bytes_of(value, width)

    def program(self, value: Value) -> Program | None:
        """The value in the closed grammar; None if it is inexpressible."""
        return program_of(value, self.frame_bytes)

    def store(self, address: Value, content: Bytes) -> None:
        """Stores bytes to memory at an address."""
        if address.terms != (FRAME,):
            self._escapes |= any(FRAME in byte.value.terms for byte in content)
        if address.terms == (OBJECT,) and address.added >= 0:
            self.object_stores.append(ObjectStore(address.added, content, self.instruction))
            self._object.update(enumerate(content, address.added))
        elif address.terms == (FRAME,):
            self._frame.update(enumerate(content, address.added))
            self._note_frame_store(address.added + len(content))
        else:
            self._store_elsewhere(address)

    def _note_frame_store(self, end: int) -> None:
        if self._arrival.frame_bytes is None or end > self._arrival.frame_bytes:
            self._loads_allowed = False
        elif end > 0:
            self._frame_stored = True

    def _store_elsewhere(self, address: Value) -> None:
        """A store that may change any memory, and the frame if addresses in it are known."""
        self._loads_allowed = False
        if self._escapes or FRAME in address.terms:
            self._frame_known = False
            self._frame.clear()
        if OBJECT in address.terms or any(isinstance(term, Unknown) for term in address.terms):
            self._object.clear()


def _chunks(width: int) -> Iterator[tuple[int, int]]:
    """Positions and widths of loads that together read `width` bytes."""
    at = 0
    while at < width:
        size = next(size for size in (8, 4, 2, 1) if size <= width - at)
        yield at, size
        at += size
