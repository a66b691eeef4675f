"""Symbolises code addresses: function and file:line, for users who review a plan.

binutils' `addr2line` reads debug information, one process per module. Without it names are from
the symbol tables, and without those they are `module+0xoffset`.
"""

from __future__ import annotations

import re
import struct
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from halo.binary.elf.build_id import build_id_of
from halo.binary.elf.image import ElfError, ElfImage

_ADDR2LINE_SECONDS = 120
_SYMBOL = struct.Struct("<IBBHQQ")
_STT_FUNC, _STT_GNU_IFUNC = 2, 10
_PARAMETERS = re.compile(r"\((?!anonymous namespace\)).*\)( const)?$")
_DEBUG_ROOT = Path("/usr/lib/debug/.build-id")


@dataclass(frozen=True)
class CodeLocation:
    """One call site. `function` is never empty; `source` is `file:line`, or empty if unknown.

    `inlined_into` names the functions that hold the innermost one by inlining, nearest first.
    """

    function: str
    source: str = ""
    inlined_into: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.function} at {self.source}" if self.source else self.function
        if self.inlined_into:
            text += f" (inlined into {', '.join(self.inlined_into)})"
        return text


def symbolize(module_path: str | Path, offsets: Iterable[int]) -> Mapping[int, CodeLocation]:
    """Names the call sites of one module, given by their return addresses.

    Each is looked up at return address - 1, which is inside the call. Never fails: an unknown
    address becomes `module+0xoffset`.
    """
    wanted = sorted(set(offsets))
    path = str(module_path)
    located = _addr2line(path, wanted) if _has_debug_info(path) else {}
    rest = [offset for offset in wanted if offset not in located]
    symbols = _symbols(path)
    named = {offset: symbols.covering(offset - 1) for offset in rest}
    plain = _demangle({name for name, _ in filter(None, named.values())})
    for offset in rest:
        found = named[offset]
        if found is None:
            located[offset] = CodeLocation(f"{Path(path).name or '?'}+{offset:#x}")
        else:
            name, start = found
            located[offset] = CodeLocation(f"{plain.get(name, name)}+{offset - start:#x}")
    return located


def _has_debug_info(path: str) -> bool:
    try:
        if ElfImage(path).section(".debug_info") is not None:
            return True
    except ElfError:
        return False
    build_id = build_id_of(path)
    return bool(build_id) and (_DEBUG_ROOT / build_id[:2] / f"{build_id[2:]}.debug").exists()


def _run(command: Sequence[str], text: str) -> str:
    """The output of a binutils program; empty if it is missing or fails."""
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ADDR2LINE_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def _addr2line(path: str, offsets: Sequence[int]) -> dict[int, CodeLocation]:
    """The locations by addr2line of addresses with a known source line."""
    if not offsets:
        return {}
    command = ("addr2line", "-a", "-f", "-C", "-i", "-e", path)
    output = _run(command, "".join(f"{offset - 1:#x}\n" for offset in offsets))
    located = {}
    for block in re.split(r"^0x", output, flags=re.MULTILINE)[1:]:
        address, *lines = block.splitlines()
        functions, sources = lines[0::2], lines[1::2]
        if not sources or sources[0].startswith("??") or functions[0] == "??":
            continue
        source = re.sub(r" \(discriminator \d+\)$", "", sources[0])
        located[int(address, 16) + 1] = CodeLocation(
            functions[0], source.removesuffix(":?"), tuple(functions[1:])
        )
    return located


def _demangle(names: Iterable[str]) -> Mapping[str, str]:
    mangled = sorted(name for name in names if name.startswith("_Z"))
    if not mangled:
        return {}
    lines = _run(("c++filt",), "\n".join(mangled) + "\n").splitlines()
    return dict(zip(mangled, lines, strict=True)) if len(lines) == len(mangled) else {}


@dataclass(frozen=True)
class FunctionTable:
    """The functions of a module as parallel sequences, sorted by address."""

    starts: Sequence[int]
    ends: Sequence[int]
    names: Sequence[str]

    def covering(self, address: int) -> tuple[str, int] | None:
        """Name and start of the function that holds an address."""
        index = bisect_right(self.starts, address) - 1
        if index < 0 or address >= self.ends[index]:
            return None
        return self.names[index], self.starts[index]


def code_of_function(module_path: str | Path, name: str) -> list[tuple[int, int]]:
    """Begin and end of the functions of that name, as virtual addresses, ascending.

    C++ names are given with or without parameters. Includes the parts and copies that compilers
    make of a function, whose names have a suffix such as `.cold`.
    """
    table = _symbols(str(module_path))
    plain = _demangle(table.names)
    return [
        (start, end)
        for start, end, symbol in zip(table.starts, table.ends, table.names, strict=True)
        if name in _names_of(symbol, plain.get(symbol, symbol))
    ]


def _names_of(symbol: str, plain: str) -> tuple[str, ...]:
    """The names by which a user may mean a symbol."""
    whole = plain.split(" [clone", 1)[0]
    return symbol, symbol.split(".", 1)[0], whole, _PARAMETERS.sub("", whole)


@lru_cache(maxsize=64)
def _symbols(path: str) -> FunctionTable:
    """The functions of `.symtab`, or of a stripped file's `.dynsym`; empty if unreadable."""
    found: dict[int, tuple[int, str]] = {}
    try:
        image = ElfImage(path)
        for table in (".dynsym", ".symtab"):
            section = image.section(table)
            if section is None or section.link >= len(image.sections):
                continue
            names = image.contents(image.sections[section.link])
            data = image.contents(section)
            whole = len(data) - len(data) % _SYMBOL.size
            for name, info, _, index, value, size in _SYMBOL.iter_unpack(data[:whole]):
                if info & 0xF in (_STT_FUNC, _STT_GNU_IFUNC) and index and size:
                    text = names[name : names.find(b"\0", name)].decode("utf-8", "replace")
                    found[value] = (value + size, text)
    except (ElfError, struct.error):
        pass
    starts = sorted(found)
    return FunctionTable(
        starts, [found[start][0] for start in starts], [found[start][1] for start in starts]
    )
