"""Finds names that an ELF file's symbol tables define or refer to; fast on large files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halo.binary.elf.image import ElfError, ElfImage

SYMBOL = np.dtype(
    [
        ("name", "<u4"),
        ("info", "u1"),
        ("other", "u1"),
        ("section", "<u2"),
        ("value", "<u8"),
        ("size", "<u8"),
    ]
)
_UNDEFINED = 0


@dataclass(frozen=True)
class SymbolTable:
    """The symbols of a table, and the strings of their names."""

    symbols: NDArray[Any]
    strings: bytes

    def indices(self, name: str) -> NDArray[np.intp]:
        """The indices of the symbols of that name, shape (matches,)."""
        places = list(_occurrences(self.strings, name.encode() + b"\0"))
        return np.flatnonzero(np.isin(self.symbols["name"], places))

    def defined(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names among these that the table defines."""
        return tuple(name for name in names if self._has(name, defined=True))

    def referred(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names among these that the table imports from other modules."""
        return tuple(name for name in names if self._has(name, defined=False))

    def defined_names(self) -> Iterator[str]:
        """All names that the table defines."""
        places = self.symbols["name"][self.symbols["section"] != _UNDEFINED]
        for place in places:
            end = self.strings.find(b"\0", int(place))
            yield self.strings[int(place) : end].decode(errors="replace")

    def _has(self, name: str, defined: bool) -> bool:
        sections = self.symbols["section"][self.indices(name)]
        return bool(((sections != _UNDEFINED) == defined).any())


NO_SYMBOLS = SymbolTable(np.zeros(0, SYMBOL), b"")


def _occurrences(strings: bytes, text: bytes) -> Iterator[int]:
    """Every offset of the text, as linkers merge names with equal ends."""
    at = strings.find(text)
    while at >= 0:
        yield at
        at = strings.find(text, at + 1)


def table_of_section(image: ElfImage, name: str) -> SymbolTable:
    """The symbol table in that section; empty if there is none."""
    section = image.section(name)
    if section is None or section.link >= len(image.sections):
        return NO_SYMBOLS
    return table_of_bytes(image.contents(section), image.contents(image.sections[section.link]))


def table_of_bytes(symbols: bytes, strings: bytes) -> SymbolTable:
    """The symbol table in these bytes."""
    whole = len(symbols) - len(symbols) % SYMBOL.itemsize
    return SymbolTable(np.frombuffer(symbols[:whole], SYMBOL), strings)


def table_at(image: ElfImage, symbols: int, strings: int, string_bytes: int) -> SymbolTable:
    """The dynamic symbols of a file without section headers: the strings follow the symbols."""
    try:
        start, end = image.file_offset(symbols), image.file_offset(strings)
    except ElfError:
        return NO_SYMBOLS
    return table_of_bytes(image.data[start:end], image.data[end : end + string_bytes])
