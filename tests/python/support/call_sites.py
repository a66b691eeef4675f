"""Compiled programs and the call sites of allocators in them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from halo.elf.call_list import calls_among
from halo.elf.disassembly import instructions_of
from halo.elf.image import ElfImage
from halo.elf.symbols import code_of_function
from halo.locations import BirthStores, birth_stores

ALLOCATORS = {"malloc", "_Znwm"}
COMPILERS = {
    ("gcc", "c"): ("gcc",),
    ("gcc", "c++"): ("g++", "-std=c++20"),
    ("clang", "c"): ("clang-19",),
    ("clang", "c++"): ("clang++-19", "-std=c++20"),
}
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")


def build(compiler: str, language: str, source: str, output: Path, *flags: str) -> Path:
    """Compiles the text of a program."""
    command = [*COMPILERS[compiler, language], "-x", language, "-", "-o", str(output), "-w", *flags]
    subprocess.run(command, input=source, text=True, check=True, capture_output=True)
    return output


def assemble(folder: Path, lines: str, *flags: str) -> Path:
    """A library with the function `f` of assembler lines in Intel's syntax, with frame records."""
    path = folder / "code.so"
    text = (
        ".intel_syntax noprefix\n.text\n.globl f\n.type f, @function\nf:\n.cfi_startproc\n"
        f"{lines}\n.cfi_endproc\n.size f, .-f\ndata: .quad 0\n"
    )
    command = ["gcc", "-x", "assembler", "-", "-o", str(path), "-shared", "-nostdlib", *flags]
    subprocess.run(command, input=text, text=True, check=True, capture_output=True)
    return path


def sites_of(program: Path, function: str = "") -> list[int]:
    """The return addresses of the allocations in a function, or in the whole program."""
    spans = code_of_function(program, function) if function else [(0, 1 << 63)]
    return [
        call.return_address
        for call in calls_among(instructions_of(str(program)))
        if call.callee in ALLOCATORS
        and any(start < call.return_address <= end for start, end in spans)
    ]


def stores_in(program: Path, function: str = "") -> BirthStores:
    """The stores behind the first allocation in a function."""
    return birth_stores(ElfImage(program), sites_of(program, function)[0])


def all_stores(program: Path) -> Sequence[tuple[int, BirthStores]]:
    """Each allocation of a program, with its stores."""
    image = ElfImage(program)
    return [(site, birth_stores(image, site)) for site in sites_of(program)]


FRAME_BYTES = 32


def stores_behind(folder: Path, lines: str, before: str = "") -> BirthStores:
    """The stores of code behind an allocation, in a function with a frame of FRAME_BYTES."""
    program = assemble(
        folder,
        f"sub rsp, {FRAME_BYTES}\n.cfi_def_cfa_offset {FRAME_BYTES + 8}\n"
        f"{before}\ncall malloc@PLT\n{lines}\nadd rsp, {FRAME_BYTES}\n"
        ".cfi_def_cfa_offset 8\nret",
    )
    return stores_in(program)
