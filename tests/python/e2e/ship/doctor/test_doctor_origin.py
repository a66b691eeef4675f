"""`$ORIGIN` in the search paths of a program that is started through symbolic links."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from halo.base.settings import read_settings
from halo.binary.process.target import Target, examine
from halo.measure.runs.recorder_time import code_bytes
from halo.ship.doctor.loader import ask_loader
from halo.ship.doctor.opened_libraries import deep_binders
from halo.studies.tracing.run import LIBRARY, check_instrumented
from support.command import compile_c
from support.doctor import ALLOCATES, library, needing, the, unusual
from support.doctor import examine as findings_of

TAGS = {"DT_RUNPATH": "--enable-new-dtags", "DT_RPATH": "--disable-new-dtags"}
DEEP = "#include <dlfcn.h>\nvoid *o(char *s) { return dlopen(s, RTLD_NOW | RTLD_DEEPBIND); }\n"
CODE = 'int c(void) { return 0; } __asm__(".text\\n.skip 200000, 0x90\\n");\n'


def started_by_a_link(folder: Path, path: str, made: Path, tag: str = "DT_RUNPATH") -> Path:
    """A link to a link to a program that needs the library `made`, by that search path."""
    (folder / "real" / "bin").mkdir(parents=True)
    (folder / "links").mkdir()
    flags = (f"-Wl,-rpath,{path}", f"-Wl,{TAGS[tag]}")
    program = folder / "real" / "bin" / "prog"
    compile_c(ALLOCATES, program, needing(made), *flags)
    (folder / "alternative").symlink_to(program)
    link = folder / "links" / "prog"
    link.symlink_to(folder / "alternative")
    return link


def beside_the_file(folder: Path, name: str, source: str) -> Path:
    (folder / "real" / "lib").mkdir(parents=True)
    return library(folder / "real" / "lib", name, source)


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("path", ["$ORIGIN/../lib", "${ORIGIN}/../lib"])
def test_a_library_beside_the_file_is_found(tmp_path: Path, path: str, tag: str) -> None:
    made = beside_the_file(tmp_path, "own", "int g(void) { return 1; }")
    link = started_by_a_link(tmp_path, path, made, tag)
    subprocess.run([link], check=True)
    findings = findings_of(link)
    assert unusual(findings) == []
    assert "loaded at the start" in the(findings, "libraries").sentence


def test_a_librarys_origin_is_beside_the_path_that_it_was_opened_by(tmp_path: Path) -> None:
    """The loader resolves no link to a library: here two files of one name exist."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "store").mkdir()
    for folder in (tmp_path / "lib", tmp_path / "store"):
        library(folder, "inner", "int i(void) { return 1; }")
    outer = library(
        *(tmp_path / "store", "outer", "int i(void); int o(void) { return i(); }"),
        *(needing(tmp_path / "store" / "libinner.so"), "-Wl,-rpath,$ORIGIN"),
    )
    (tmp_path / "lib" / "libouter.so").symlink_to(outer)
    link = started_by_a_link(tmp_path, "$ORIGIN/../../lib", tmp_path / "lib" / "libouter.so")
    found = ask_loader(examine(link).interpreter, link, {}).libraries
    opened = subprocess.run(
        [link], env={"LD_DEBUG": "libs"}, check=True, capture_output=True, text=True
    ).stderr
    (inner,) = [path for path in found if path.name == "libinner.so"]
    assert inner.resolve() == tmp_path / "lib" / "libinner.so"
    assert f"calling init: {inner}" in opened


def test_what_else_reads_the_libraries_of_a_program(tmp_path: Path) -> None:
    made = beside_the_file(tmp_path, "own", DEEP + CODE)
    link = started_by_a_link(tmp_path, "$ORIGIN/../lib", made)
    assert deep_binders(read_settings(), link) == ["libown.so"]
    assert code_bytes(link) > 200_000


def test_an_instrumented_library_beside_the_file(tmp_path: Path) -> None:
    name = LIBRARY.removeprefix("lib").removesuffix(".so")
    made = beside_the_file(tmp_path, name, "int g(void) { return 1; }")
    link = started_by_a_link(tmp_path, "$ORIGIN/../lib", made)
    check_instrumented(Target(link, "prog"))
