"""The shared libraries of a deployment: names, requirements, licences."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection

from halo.base.errors import BadInput
from halo.ship.deployment.names import safe_name

_GLIBC = re.compile(r"^(ld-linux|lib(c|m|dl|rt|pthread|util|resolv|anl|mvec)\.so)")
_VERSION = re.compile(r"^([A-Z]+)_((?:\d+\.)*\d+)$")
_RELATIVE_RELOCATIONS = "GLIBC_ABI_DT_RELR"  # since glibc 2.36
_DOCUMENTS = Path("/usr/share/doc")  # Debian policy, section 12.5


@dataclass(frozen=True)
class SharedLibrary:
    """A library to copy.

    `name` is its soname, as a file name. `glibc` is the oldest release that it runs with, such as
    (2, 34), or empty. `others` are further libraries that it needs, with the versions of their
    symbols.
    """

    path: Path
    name: str
    glibc: tuple[int, ...]
    others: tuple[str, ...]
    licence: Path | None


def read_library(path: Path, licence: Path | None = None) -> SharedLibrary:
    """Reads the file behind `path`; raises `BadInput` unless it is a library that has a malloc.

    Without `licence`, it is the copyright file of the Debian package that has the library.
    """
    real = path.resolve()
    try:
        with real.open("rb") as stream:
            elf = ELFFile(stream)
            dynamic = elf.get_section_by_name(".dynamic")
            if not isinstance(dynamic, DynamicSection) or not _defines_malloc(elf):
                raise BadInput(f"{path} is not a library with a malloc; give an allocator.")
            tags = [(tag.entry.d_tag, tag) for tag in dynamic.iter_tags()]
            needed = [str(tag.needed) for kind, tag in tags if kind == "DT_NEEDED"]  # type: ignore[attr-defined]
            sonames = [str(tag.soname) for kind, tag in tags if kind == "DT_SONAME"]  # type: ignore[attr-defined]
            versions = list(_versions(elf))
    except (OSError, ELFError) as error:
        raise BadInput(f"{path} cannot be read as a library: {error}.") from error
    glibc = [_release(version) for file, version in versions if _GLIBC.match(file)]
    return SharedLibrary(
        path=real,
        name=safe_name(Path(next(iter(sonames), path.name)).name),
        glibc=max(glibc, default=()),
        others=tuple(_described(file, versions) for file in needed if not _GLIBC.match(file)),
        licence=licence or _copyright(real),
    )


def _defines_malloc(elf: ELFFile) -> bool:
    table = elf.get_section_by_name(".dynsym")
    found = table.get_symbol_by_name("malloc") if isinstance(table, SymbolTableSection) else None
    return any(symbol["st_shndx"] != "SHN_UNDEF" for symbol in found or ())


def _versions(elf: ELFFile) -> Iterator[tuple[str, str]]:
    """Pairs of a needed library and a version of its symbols."""
    section = elf.get_section_by_name(".gnu.version_r")
    if isinstance(section, GNUVerNeedSection):
        for file, wanted in section.iter_versions():
            for version in wanted:
                yield str(file.name), str(version.name)


def _release(version: str) -> tuple[int, ...]:
    if version == _RELATIVE_RELOCATIONS:
        return 2, 36
    found = _VERSION.match(version)
    return tuple(map(int, found[2].split("."))) if found else ()


def _described(file: str, versions: list[tuple[str, str]]) -> str:
    """The library, with the newest version of each prefix: `libstdc++.so.6 (GLIBCXX_3.4.21)`."""
    newest: dict[str, str] = {}
    for name, version in versions:
        found = _VERSION.match(version)
        if name == file and found:
            newest[found[1]] = max(newest.get(found[1], ""), version, key=_release)
    return f"{file} ({', '.join(newest.values())})" if newest else file


def _copyright(path: Path) -> Path | None:
    """The copyright file of the Debian package that installed this file, if one did."""
    before_merge = Path("/", *path.parts[2:]) if path.parts[:2] == ("/", "usr") else path
    for spelling in (path, before_merge):
        try:
            done = subprocess.run(
                ["dpkg-query", "--search", str(spelling)],
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError:
            return None
        package = done.stdout.partition(":")[0]
        file = _DOCUMENTS / package / "copyright"
        if done.returncode == 0 and file.is_file():
            return file
    return None
