"""Recognises the C library's functions on byte strings, which accept any pointer.

The C standard lets `memcpy`, `strlen` and similar functions take any address. Their hand-written
code aligns pointers itself, by jump tables that the data-flow analysis does not follow. In the C
library they are the variants that an exported indirect function selects from (STT_GNU_IFUNC). The
dynamic linker has private copies, which compare bytes by vectors and mask addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iced_x86 import Instruction, Mnemonic, OpKind, Register

from halo.binary.alignment.functions import Functions, Piece
from halo.binary.elf.image import ElfImage
from halo.binary.elf.symbol_table import table_of_section

_C_LIBRARY = "libc.so.6"
_DYNAMIC_LINKER = "ld-linux-x86-64.so.2"
_INDIRECT = 10  # STT_GNU_IFUNC
_BYTE_COMPARISONS = {Mnemonic.PCMPEQB, Mnemonic.PMINUB}
_ADDRESS_MASKS = {15, 31, 63, -16 % (1 << 64), -32 % (1 << 64), -64 % (1 << 64)}


class StringFunctions:
    """Identifies the string functions of the C library in one file."""

    def __init__(self, image: ElfImage, functions: Functions, name: str) -> None:
        self._linker = name == _DYNAMIC_LINKER
        self._chosen: set[int] = set()
        if name == _C_LIBRARY:
            self._chosen = _variants(image, functions)

    def has(self, piece: Piece, code: Sequence[Instruction]) -> bool:
        """Whether the piece, whose instructions are `code`, is such a function."""
        if piece.start in self._chosen:
            return True
        return self._linker and _compares_bytes(code)


def _variants(image: ElfImage, functions: Functions) -> set[int]:
    """Start addresses of the functions whose address a resolver of an indirect function takes."""
    symbols = table_of_section(image, ".dynsym").symbols
    resolvers = {int(each["value"]) for each in symbols if each["info"] & 15 == _INDIRECT}
    starts = {start for start, _ in functions.spans}
    found: set[int] = set()
    for piece in functions.pieces():
        if piece.start in resolvers:
            found |= starts.intersection(_addresses_taken(piece.instructions()))
    return found


def _addresses_taken(code: Iterable[Instruction]) -> Iterable[int]:
    for instruction in code:
        if instruction.mnemonic == Mnemonic.LEA and instruction.memory_base == Register.RIP:
            yield instruction.memory_displacement


def _compares_bytes(code: Sequence[Instruction]) -> bool:
    compares = any(each.mnemonic in _BYTE_COMPARISONS for each in code)
    return compares and any(map(_masks_address, code))


def _masks_address(instruction: Instruction) -> bool:
    if instruction.mnemonic != Mnemonic.AND or instruction.op0_kind != OpKind.REGISTER:
        return False
    if instruction.op1_kind in (OpKind.REGISTER, OpKind.MEMORY):
        return False
    return instruction.immediate(1) in _ADDRESS_MASKS
