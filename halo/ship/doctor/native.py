"""Finds the allocator that a program has without halo: glibc's, or that of a library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from halo.base.errors import Unsuitable
from halo.binary.elf import ElfError, ElfImage
from halo.binary.elf.symbol_table import table_of_section
from halo.binary.process.allocators import GLIBC_ALONE, Allocator
from halo.binary.process.target import examine
from halo.ship.doctor.loader import ask_loader


def native_allocator(program: Path, environment: Mapping[str, str]) -> Allocator:
    """The first malloc in the loader's order; glibc's if the program cannot be examined."""
    try:
        interpreter = examine(program).interpreter
    except (Unsuitable, OSError):
        return GLIBC_ALONE
    for library in ask_loader(interpreter, program, environment).libraries:
        if library.name.startswith("libc.so."):
            break
        if _has_malloc(library) and not library.name.startswith("libhalo"):
            words = re.split("[: ]", environment.get("LD_PRELOAD", ""))
            named = library.name in {Path(word).name for word in words}
            return Allocator(library.name, None, library, named)
    return GLIBC_ALONE


def _has_malloc(library: Path) -> bool:
    try:
        return bool(table_of_section(ElfImage(library), ".dynsym").defined(("malloc",)))
    except (ElfError, OSError):
        return False
