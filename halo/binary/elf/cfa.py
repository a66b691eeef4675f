"""Interprets DWARF call-frame programs for the three rules that a walk needs.

These are the CFA rule, the place of the saved `rbp`, and whether the return address is in its
standard place (DWARF 5, section 6.4.2; x86-64 ABI register numbers: rbp 6, rsp 7, return address
16). The interpreter skips all other registers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from halo.binary.elf.reader import Reader

RBP = 6
RSP = 7
RETURN_ADDRESS = 16


class Saved(NamedTuple):
    """The place of a caller's register: `same`, `offset` bytes from the CFA, or `lost`."""

    how: str
    offset: int = 0


SAME = Saved("same")
LOST = Saved("lost")


@dataclass(frozen=True)
class CallFrameRow:
    """One row of the call-frame table; `cfa_register` is None if the CFA is an expression."""

    cfa_register: int | None = None
    cfa_offset: int = 0
    rbp: Saved = SAME
    return_address: Saved = SAME

    def with_register(self, register: int, saved: Saved) -> CallFrameRow:
        if register == RBP:
            return replace(self, rbp=saved)
        if register == RETURN_ADDRESS:
            return replace(self, return_address=saved)
        return self

    def rule_of(self, register: int) -> Saved:
        return self.rbp if register == RBP else self.return_address


@dataclass(frozen=True)
class Scale:
    """The factors of a CIE and the encoding of addresses in its programs."""

    code: int
    data: int
    encoding: int


class CfaMachine:
    """Runs the instructions of one FDE after those of its CIE."""

    def __init__(self, scale: Scale, start: int) -> None:
        self.scale = scale
        self.location = start
        self.row = CallFrameRow()
        self.initial = CallFrameRow()
        self.stack: list[CallFrameRow] = []

    def run(self, reader: Reader, end: int, until: int | None = None) -> CallFrameRow:
        """Interprets up to byte `end`, or up to the row in force at address `until`."""
        while reader.position < end:
            opcode = reader.u8()
            before = self.row
            if self._step(reader, opcode) and until is not None and self.location > until:
                return before
        return self.row

    def rows(self, reader: Reader, end: int) -> list[tuple[int, CallFrameRow]]:
        """All rows as (first address, row); the last one reaches to the end of the function."""
        found = []
        while reader.position < end:
            location, row = self.location, self.row
            if self._step(reader, reader.u8()) and self.location > location:
                found.append((location, row))
        return [*found, (self.location, self.row)]

    def _step(self, reader: Reader, opcode: int) -> bool:
        """Executes one instruction; True if it advanced the location."""
        high, low = opcode & 0xC0, opcode & 0x3F
        if high == 0x40:
            self.location += low * self.scale.code
            return True
        if high == 0x80:
            self._save(low, Saved("offset", reader.uleb() * self.scale.data))
        elif high == 0xC0:
            self._save(low, self.initial.rule_of(low))
        elif opcode in _ADVANCE:
            self.location += reader.fixed(*_ADVANCE[opcode]) * self.scale.code
            return True
        elif opcode == 0x01:
            self.location = reader.pointer(self.scale.encoding) or 0
            return True
        elif opcode in _HANDLERS:
            _HANDLERS[opcode](self, reader)
        else:
            raise IndexError(f"unknown call-frame instruction {opcode:#x}")
        return False

    def _save(self, register: int, saved: Saved) -> None:
        if register in (RBP, RETURN_ADDRESS):
            self.row = self.row.with_register(register, saved)

    def _save_at(self, register: int, offset: int) -> None:
        self._save(register, Saved("offset", offset * self.scale.data))

    def _define(self, register: int | None, offset: int) -> None:
        self.row = replace(self.row, cfa_register=register, cfa_offset=offset)

    def _restore(self, register: int) -> None:
        self._save(register, self.initial.rule_of(register))

    def _restore_state(self) -> None:
        self.row = self.stack.pop()


_ADVANCE = {0x02: ("<B", 1), 0x03: ("<H", 2), 0x04: ("<I", 4)}


def _skip_block(reader: Reader) -> None:
    size = reader.uleb()
    reader.position += size


def _expression(machine: CfaMachine, reader: Reader) -> None:
    machine._define(None, 0)
    _skip_block(reader)


def _lose(machine: CfaMachine, reader: Reader) -> None:
    machine._save(reader.uleb(), LOST)


def _lose_second(machine: CfaMachine, reader: Reader) -> None:
    machine._save(reader.uleb(), LOST)
    reader.uleb()


def _lose_block(machine: CfaMachine, reader: Reader) -> None:
    machine._save(reader.uleb(), LOST)
    _skip_block(reader)


_HANDLERS: dict[int, Callable[[CfaMachine, Reader], object]] = {
    0x00: lambda m, r: None,  # nop
    0x05: lambda m, r: m._save_at(r.uleb(), r.uleb()),  # offset_extended
    0x06: lambda m, r: m._restore(r.uleb()),  # restore_extended
    0x07: _lose,  # undefined
    0x08: lambda m, r: m._save(r.uleb(), SAME),  # same_value
    0x09: _lose_second,  # register
    0x0A: lambda m, r: m.stack.append(m.row),  # remember_state
    0x0B: lambda m, r: m._restore_state(),
    0x0C: lambda m, r: m._define(r.uleb(), r.uleb()),  # def_cfa
    0x0D: lambda m, r: m._define(r.uleb(), m.row.cfa_offset),  # def_cfa_register
    0x0E: lambda m, r: m._define(m.row.cfa_register, r.uleb()),  # def_cfa_offset
    0x0F: _expression,  # def_cfa_expression
    0x10: _lose_block,  # expression
    0x11: lambda m, r: m._save_at(r.uleb(), r.sleb()),  # offset_extended_sf
    0x12: lambda m, r: m._define(r.uleb(), r.sleb() * m.scale.data),  # def_cfa_sf
    0x13: lambda m, r: m._define(m.row.cfa_register, r.sleb() * m.scale.data),
    0x14: _lose_second,  # val_offset
    0x15: _lose_second,  # val_offset_sf: an sleb is as long as a uleb
    0x16: _lose_block,  # val_expression
    0x2E: lambda m, r: r.uleb(),  # GNU_args_size
    0x2F: lambda m, r: m._save_at(r.uleb(), -r.uleb()),  # GNU_negative_offset_extended
}
