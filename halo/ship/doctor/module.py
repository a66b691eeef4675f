"""The dynamic-linking data of one ELF file: the program or one of its libraries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError, ELFParseError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_DT_FLAGS, ENUM_DT_FLAGS_1

from halo.binary.elf import ElfError, ElfImage, build_id_of
from halo.binary.elf.symbol_table import NO_SYMBOLS, SymbolTable, table_at, table_of_section


@dataclass(frozen=True)
class Relocations:
    """A table of relocations: its address and its size in bytes."""

    address: int
    size: int


@dataclass(frozen=True)
class LinkedModule:
    """An ELF module; `flags`: names of bits in DT_FLAGS and DT_FLAGS_1, `tags`: of all entries."""

    path: Path
    image: ElfImage
    soname: str
    needed: tuple[str, ...]
    tags: frozenset[str]
    flags: frozenset[str]
    relocations: tuple[Relocations, ...]
    thread_local_bytes: int
    build_id: str
    exported: SymbolTable
    private: SymbolTable
    is_go: bool

    @property
    def name(self) -> str:
        return self.soname or self.path.name

    @property
    def is_c_library(self) -> bool:
        return self.soname.startswith(("libc.so.", "ld-linux"))


def read_module(path: Path) -> LinkedModule:
    """Reads an x86-64 ELF file; raises `ElfError` if it is damaged or of another kind."""
    try:
        with path.open("rb") as stream:
            return _read(path, ElfImage(path), ELFFile(stream))
    except (ELFError, ELFParseError, ValueError, KeyError, UnicodeDecodeError) as error:
        raise ElfError(f"{path} is damaged: {error or type(error).__name__}") from error


def _read(path: Path, image: ElfImage, elf: ELFFile) -> LinkedModule:
    segment = next(elf.iter_segments("PT_DYNAMIC"), None)
    dynamic = segment if isinstance(segment, DynamicSegment) else None
    values: dict[str, int] = {}
    needed, soname = [], ""
    for tag in dynamic.iter_tags() if dynamic is not None else ():
        kind = str(tag.entry.d_tag)
        values[kind] = int(tag.entry.d_val)
        if kind == "DT_NEEDED":
            needed.append(str(tag.needed))  # type: ignore[attr-defined]
        elif kind == "DT_SONAME":
            soname = str(tag.soname)  # type: ignore[attr-defined]
    return LinkedModule(
        path=path,
        image=image,
        soname=soname,
        needed=tuple(needed),
        tags=frozenset(values),
        flags=_flags(values),
        relocations=_relocations(values),
        thread_local_bytes=_thread_local_bytes(elf),
        build_id=build_id_of(path),
        exported=_exported(image, values),
        private=table_of_section(image, ".symtab"),
        is_go=_is_go(image, elf),
    )


def _flags(values: dict[str, int]) -> frozenset[str]:
    found = {name for name, bit in ENUM_DT_FLAGS.items() if values.get("DT_FLAGS", 0) & bit}
    later = values.get("DT_FLAGS_1", 0)
    found |= {name for name, bit in ENUM_DT_FLAGS_1.items() if later & bit}
    if "DT_SYMBOLIC" in values:
        found.add("DF_SYMBOLIC")
    return frozenset(found)


def _relocations(values: dict[str, int]) -> tuple[Relocations, ...]:
    pairs = (("DT_JMPREL", "DT_PLTRELSZ"), ("DT_RELA", "DT_RELASZ"))
    return tuple(
        Relocations(values[place], values[size])
        for place, size in pairs
        if place in values and size in values
    )


def _thread_local_bytes(elf: ELFFile) -> int:
    """Bytes of its thread-local variables, with the maximum padding for their alignment."""
    total = 0
    for segment in elf.iter_segments("PT_TLS"):
        align = max(int(segment["p_align"]), 1)
        total += -(-int(segment["p_memsz"]) // align) * align
    return total


def _exported(image: ElfImage, values: dict[str, int]) -> SymbolTable:
    if image.sections:
        return table_of_section(image, ".dynsym")
    wanted = ("DT_SYMTAB", "DT_STRTAB", "DT_STRSZ")
    if not all(tag in values for tag in wanted):
        return NO_SYMBOLS
    return table_at(image, *(values[tag] for tag in wanted))


def _is_go(image: ElfImage, elf: ELFFile) -> bool:
    """Whether Go's linker wrote the file: it adds a note with a build-id and a version section."""
    if {".note.go.buildid", ".go.buildinfo"} & {section.name for section in image.sections}:
        return True
    return any(b"Go\0\0" in segment.data() for segment in elf.iter_segments("PT_NOTE"))
