"""What halo accepts as a program and what it refuses, each with its cause and way out."""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from halo.base.errors import CannotRun, HaloError, Unsuitable
from halo.binary.process.target import examine, find_target
from support.command import compile_c

MAIN = "int main(void) { return 0; }"
ENVIRONMENT = {"PATH": os.environ["PATH"]}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one program in several builds."""
    folder = tmp_path_factory.mktemp("built")
    compile_c(MAIN, folder / "pie")
    compile_c(MAIN, folder / "no-pie", "-no-pie")
    compile_c(MAIN, folder / "stripped", "-s")
    compile_c(MAIN, folder / "static", "-static")
    compile_c(MAIN, folder / "static-pie", "-static-pie")
    compile_c(MAIN, folder / "object", "-c")
    compile_c(MAIN, folder / "no-build-id", "-Wl,--build-id=none")
    mine = "#include <stdlib.h>\nvoid *malloc(size_t n) { return 0; } int main(void) { return 0; }"
    compile_c(mine, folder / "own-malloc", "-rdynamic", "-fno-builtin")
    (folder / "object").chmod(0o755)
    return folder


def patched(program: Path, output: Path, offset: int, value: bytes) -> Path:
    content = bytearray(program.read_bytes())
    content[offset : offset + len(value)] = value
    output.write_bytes(content)
    output.chmod(0o755)
    return output


def refusal(name: Path | str) -> HaloError:
    with pytest.raises(HaloError) as caught:
        find_target(str(name), ENVIRONMENT)
    return caught.value


@pytest.mark.parametrize("name", ["pie", "no-pie", "stripped", "no-build-id"])
def test_dynamic_programs_are_accepted(built: Path, name: str) -> None:
    assert find_target(str(built / name), ENVIRONMENT).path == built / name


def test_a_bare_name_is_searched_in_path(built: Path) -> None:
    assert find_target("pie", {"PATH": f"/nowhere:{built}"}).path == built / "pie"


@pytest.mark.parametrize("name", ["static", "static-pie"])
def test_static_programs_are_refused(built: Path, name: str) -> None:
    error = refusal(built / name)
    assert isinstance(error, Unsuitable)
    assert "static binary" in str(error)
    assert "link it dynamically" in str(error)


def test_an_object_file_is_refused(built: Path) -> None:
    assert "link it first" in str(refusal(built / "object"))


def test_a_program_with_its_own_malloc_is_refused(built: Path) -> None:
    assert "malloc of its own" in str(refusal(built / "own-malloc"))


def test_another_machines_program_is_refused(built: Path, tmp_path: Path) -> None:
    aarch64 = patched(built / "pie", tmp_path / "arm", 18, struct.pack("<H", 183))
    assert "another architecture (aarch64" in str(refusal(aarch64))


def test_a_32_bit_program_is_refused(tmp_path: Path) -> None:
    header = b"\x7fELF\x01\x01\x01" + bytes(9)
    header += struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0, 0, 0, 0, 52, 32, 0, 40, 0, 0)
    program = tmp_path / "i386"
    program.write_bytes(header)
    program.chmod(0o755)
    assert "another architecture (386, 32 bits)" in str(refusal(program))


@pytest.mark.parametrize("length", [4, 20, 64, 200, 4000])
def test_a_program_cut_short_is_refused(built: Path, tmp_path: Path, length: int) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes((built / "pie").read_bytes()[:length])
    cut.chmod(0o755)
    assert isinstance(refusal(cut), Unsuitable)


def test_a_table_of_symbols_without_end_is_refused(built: Path, tmp_path: Path) -> None:
    with (built / "pie").open("rb") as stream:
        elf = ELFFile(stream)
        at = elf["e_shoff"] + elf.get_section_index(".dynsym") * elf["e_shentsize"]
    endless = patched(built / "pie", tmp_path / "endless", at + 32, struct.pack("<Q", 1 << 62))
    assert "is a damaged ELF file" in str(refusal(endless))


def test_a_script_is_refused_with_its_interpreter_named(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o755)
    with pytest.raises(Unsuitable) as caught:
        find_target(str(script), {"PATH": "/usr/bin:/bin"})
    assert f"-- python3 {script}" in str(caught.value)


def test_a_text_file_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("hello")
    text.chmod(0o755)
    assert "not a native Linux program" in str(refusal(text))


@pytest.mark.parametrize(("mode", "what"), [(0o4755, "set-user-id"), (0o2755, "set-group-id")])
def test_privileged_programs_are_refused(built: Path, tmp_path: Path, mode: int, what: str) -> None:
    program = tmp_path / "privileged"
    shutil.copy(built / "pie", program)
    program.chmod(mode)
    assert what in str(refusal(program))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give capabilities")
def test_programs_with_capabilities_are_refused(built: Path, tmp_path: Path) -> None:
    program = tmp_path / "capable"
    shutil.copy(built / "pie", program)
    capability = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)
    os.setxattr(program, "security.capability", capability)
    assert "file capabilities" in str(refusal(program))


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    cases = {
        "": "name is empty",
        str(tmp_path / "nothing"): "does not exist",
        "no-such-program": "not found in PATH",
        str(tmp_path): "is a directory",
        str(plain): "chmod +x",
        str(tmp_path / "link"): "symbolic link to nothing",
    }
    for name, words in cases.items():
        error = refusal(name)
        assert isinstance(error, CannotRun)
        assert words in str(error)


def test_the_anatomy_says_what_the_doctor_shows(built: Path) -> None:
    pie, stripped = examine(built / "pie"), examine(built / "stripped")
    assert pie.position_independent
    assert not pie.stripped
    assert stripped.stripped
    assert len(pie.build_id) == 40
    assert pie.has_frame_rules
    assert "libc.so.6" in pie.needed
    assert not examine(built / "no-pie").position_independent
    assert examine(built / "no-build-id").build_id == ""


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["-fsanitize=address"], "libasan.so"),
        (["-fsanitize=thread"], "libtsan.so"),
        (["-fsanitize=leak"], "liblsan.so"),
        (["-fsanitize=address", "-static-libasan"], "AddressSanitizer"),
    ],
)
def test_a_sanitized_program_is_refused(tmp_path: Path, flags: list[str], words: str) -> None:
    error = refusal(compile_c(MAIN, tmp_path / "prog", *flags))
    assert isinstance(error, Unsuitable)
    assert f"is built with {words}" in str(error)


def test_a_sanitizer_that_leaves_malloc_alone_is_not_a_reason_to_refuse(tmp_path: Path) -> None:
    program = compile_c(MAIN, tmp_path / "prog", "-fsanitize=undefined")
    assert find_target(str(program), ENVIRONMENT).path == program
