"""Finds the exported names by which a module's functions can be entered from outside.

The call graph is conservative: a function leads to every function whose code address it contains,
as a jump, a call or an operand. Functions can be entered without a name if they are the program's
entry, if their address is in data or in code outside any function, or if they have no visible
caller.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from iced_x86 import FlowControl, Instruction, Register

from halo.binary.alignment.functions import Functions
from halo.binary.elf.image import ElfImage
from halo.binary.elf.symbol_table import table_of_section

_BRANCHES = {
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.CONDITIONAL_BRANCH,
    FlowControl.CALL,
}
_SHARED_OBJECT = 3  # ET_DYN
_ENTRY = struct.Struct("<QQq")  # Elf64_Rela
_RELATIVE_KINDS = {8, 37}  # R_X86_64_RELATIVE, R_X86_64_IRELATIVE
_RELR = 19  # SHT_RELR
_RELA = 4  # SHT_RELA
_WORD = 8
_FUNCTIONS = {0, 2, 10}  # STT_NOTYPE, STT_FUNC, STT_GNU_IFUNC


@dataclass
class CallGraph:
    """Callers by callee, as the functions' first addresses; None is an unnamed caller."""

    starts: list[int]
    callers: defaultdict[int, set[int | None]] = field(default_factory=lambda: defaultdict(set))

    def add(self, caller: int | None, target: int) -> None:
        """Adds an edge from `caller` to the function that contains the address `target`."""
        at = bisect_right(self.starts, target) - 1
        if at >= 0 and self.starts[at] != caller:
            self.callers[self.starts[at]].add(caller)

    def leading_to(self, functions: Iterable[int]) -> set[int | None]:
        """All functions that lead to one of these, including these."""
        found: set[int | None] = set()
        work: list[int | None] = list(functions)
        while work:
            at = work.pop()
            if at in found:
                continue
            found.add(at)
            if at is not None:
                work.extend(self.callers[at])
        return found


def entry_names(
    image: ElfImage, functions: Functions, wanted: Collection[int]
) -> frozenset[str] | None:
    """The exported names that lead to the functions beginning at the addresses `wanted`.

    None if they can be entered without a name, or if that is unknown.
    """
    if struct.unpack_from("<H", image.data, 16)[0] != _SHARED_OBJECT:
        return None  # addresses in data have no relocations there
    if not image.sections:
        return None
    graph = CallGraph([start for start, _ in functions.spans])
    for piece in functions.pieces():
        for instruction in piece.instructions():
            for target in _mentioned(instruction):
                graph.add(piece.start if piece.known else None, target)
    graph.add(None, struct.unpack_from("<Q", image.data, 24)[0])  # the program's entry
    for target in _addresses_in_data(image):
        graph.add(None, target)
    exported = _exported(image, graph.starts)
    # A function without visible callers may have invisible ones: jump tables, exceptions.
    for start in graph.starts:
        if not graph.callers[start] and start not in exported:
            graph.callers[start].add(None)
    for name in _names_used_inside(image):
        for start in [start for start, names in exported.items() if name in names]:
            graph.callers[start].add(None)
    leading = graph.leading_to(wanted)
    if None in leading:
        return None
    return frozenset(
        name for start in leading if start is not None for name in exported.get(start, ())
    )


def _mentioned(instruction: Instruction) -> Iterator[int]:
    if instruction.flow_control in _BRANCHES:
        yield instruction.near_branch_target
    elif instruction.memory_base == Register.RIP:
        yield instruction.memory_displacement


def _addresses_in_data(image: ElfImage) -> Iterator[int]:
    for place in _relative_words(image):
        at = image.file_offset(place)
        yield int.from_bytes(image.data[at : at + _WORD], "little")
    for section in image.sections:
        if section.kind != _RELA:
            continue
        content = image.contents(section)
        for _, info, addend in _ENTRY.iter_unpack(content[: len(content) // 24 * 24]):
            if info & 0xFFFFFFFF in _RELATIVE_KINDS:
                yield addend


def _relative_words(image: ElfImage) -> Iterator[int]:
    """Addresses of the words that compact relative relocations name (ELF gABI, SHT_RELR)."""
    for section in image.sections:
        if section.kind != _RELR:
            continue
        content = image.contents(section)
        base = 0
        for (entry,) in struct.iter_unpack("<Q", content[: len(content) // _WORD * _WORD]):
            if entry % 2 == 0:
                yield entry
                base = entry + _WORD
                continue
            yield from (base + bit * _WORD for bit in range(63) if entry >> (bit + 1) & 1)
            base += 63 * _WORD


def _exported(image: ElfImage, starts: list[int]) -> dict[int, set[str]]:
    """The names of the dynamic symbols, by the function that contains them."""
    table = table_of_section(image, ".dynsym")
    found: dict[int, set[str]] = defaultdict(set)
    for each in table.symbols:
        if not each["section"] or each["info"] & 15 not in _FUNCTIONS:
            continue
        at = bisect_right(starts, int(each["value"])) - 1
        if at >= 0:
            found[starts[at]].add(_name(table.strings, int(each["name"])))
    return found


def _names_used_inside(image: ElfImage) -> set[str]:
    """The names that the module looks up, which may include its own functions."""
    table = table_of_section(image, ".dynsym")
    used: set[str] = set()
    for section in image.sections:
        if section.kind != _RELA:
            continue
        content = image.contents(section)
        for _, info, _ in _ENTRY.iter_unpack(content[: len(content) // 24 * 24]):
            symbol = info >> 32
            if 0 < symbol < len(table.symbols):
                used.add(_name(table.strings, int(table.symbols[symbol]["name"])))
    return used


def _name(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode("utf-8", "replace")
