"""What libraries need of a machine, by their symbol versions."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.binary.process.allocators import KNOWN, find_allocator
from halo.ship.deployment.contents import requirements
from halo.ship.deployment.libraries import read_library
from support.command import compile_c
from support.planned import RUNTIME
from support.programs.sources import LIST

ALLOCATORS = [name for name in KNOWN if name != "glibc"]
MALLOC = "void *malloc(unsigned long size) { return (void *)size; }"


def versions(path: Path, prefix: str) -> list[tuple[int, ...]]:
    """The versions that another reader of ELF files finds."""
    text = subprocess.check_output(["readelf", "-VW", path], text=True)
    found = re.findall(rf"Name: {prefix}_([\d.]+)\b", text)
    return [tuple(map(int, version.split("."))) for version in found]


def test_the_runtime_needs_glibc_alone() -> None:
    library = read_library(RUNTIME, Path("LICENSE"))
    assert library.name == "libhalo.so"
    assert library.glibc == max(versions(RUNTIME, "GLIBC"))
    assert library.others == ()
    assert requirements([library]) == (
        f"x86-64 Linux with glibc {'.'.join(map(str, library.glibc))} or later"
    )


@pytest.mark.parametrize("name", ALLOCATORS)
def test_allocators_are_copied_whole_by_their_soname(name: str) -> None:
    path = find_allocator(name).library
    assert path is not None
    library = read_library(path)
    dynamic = subprocess.check_output(["readelf", "-dW", path], text=True)
    assert f"soname: [{library.name}]" in dynamic
    assert library.path.is_file() and not library.path.is_symlink()
    assert library.glibc == max(versions(path, "GLIBC"))
    assert ("libstdc++.so.6" in dynamic) == any("libstdc++" in it for it in library.others)
    assert library.licence is not None and "copyright" in library.licence.read_text().lower()


def test_a_library_without_a_soname_or_a_package(tmp_path: Path) -> None:
    made = compile_c(MALLOC, tmp_path / "libmine.so", "-shared", "-fPIC", "-nostdlib")
    library = read_library(made)
    assert (library.name, library.glibc, library.others, library.licence) == (
        "libmine.so",
        (),
        (),
        None,
    )
    assert requirements([library]) == "x86-64 Linux with glibc"


def test_what_is_not_an_allocator_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    program = compile_c(LIST, tmp_path / "program")
    library = compile_c("int x;", tmp_path / "libx.so", "-shared", "-fPIC")
    for path in (tmp_path / "text.so", tmp_path / "none.so", program, library):
        with pytest.raises(BadInput, match=path.name):
            read_library(path)
