"""Bad input through the real command: one sentence, the documented status, nothing left behind."""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
import zlib
from pathlib import Path

import pytest

from halo.plan import PlanGroup, drawing_plan, write_plan
from support.command import BUILD, LOADER, REPOSITORY, compile_c, halo
from support.refusals import (
    BAD_INPUT,
    BAD_PLAN,
    BAD_PROFILE,
    CANNOT_RUN,
    MISSING,
    UNSUITABLE,
    USAGE,
    check,
    refused,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the command is called, with one good program in it."""
    compile_c("int main(void) { return 0; }", tmp_path / "prog")
    return tmp_path


PROGRAM_COMMANDS = [
    pytest.param(["record"], [], id="record"),
    pytest.param(["baseline"], [], id="baseline"),
    pytest.param(["probe"], [], id="probe"),
    pytest.param(["run"], [], id="run"),
    pytest.param(["exec", "--plan", "x"], [], id="exec"),
]


TWO_PROGRAMS = pytest.param(["run"], ["--", "PROG"], id="run of two")


@pytest.mark.parametrize(("command", "rest"), [*PROGRAM_COMMANDS, TWO_PROGRAMS])
def test_programs_that_cannot_be_placed(folder: Path, command: list[str], rest: list[str]) -> None:
    script = folder / "script"
    script.write_text("#!/bin/sh\n")
    text = folder / "text"
    text.write_text("")
    compile_c("int main(void) { return 0; }", folder / "static", "-static")
    arm = bytearray((folder / "prog").read_bytes())
    arm[18:20] = struct.pack("<H", 183)
    (folder / "arm").write_bytes(arm)
    shutil.copy(folder / "prog", folder / "suid")
    for name, mode in (("script", 0o755), ("arm", 0o755), ("suid", 0o4755)):
        (folder / name).chmod(mode)
    cases = [
        ("./missing", CANNOT_RUN, "does not exist"),
        ("no-such-program", CANNOT_RUN, "not found in PATH"),
        ("./text", CANNOT_RUN, "not executable"),
        (str(folder), CANNOT_RUN, "is a directory"),
        ("./script", UNSUITABLE, "is a script: give its interpreter"),
        ("./static", UNSUITABLE, "static binary"),
        ("./arm", UNSUITABLE, "another architecture"),
        ("./suid", UNSUITABLE, "set-user-id"),
    ]
    for program, status, words in cases:
        tail = [program if word == "PROG" else word for word in rest]
        check(folder, status, words, *command, "--", program, *tail)


@pytest.mark.parametrize(("command", "rest"), PROGRAM_COMMANDS)
def test_the_loader_is_refused_with_its_program(
    folder: Path, command: list[str], rest: list[str]
) -> None:
    """Also where it is installed elsewhere, under another name."""
    shutil.copy(LOADER, folder / "loader")
    options = ["--library-path", "/opt/lib dir", "--inhibit-cache", "--argv0", "name"]
    for loader in (LOADER, "./loader"):
        tail = [loader if word == "PROG" else word for word in rest]
        given = [loader, *options, "./prog", "a b"]
        words = f"{loader} is the dynamic loader, which only loads another program, ./prog"
        check(folder, UNSUITABLE, words, *command, "--", *given, *tail)
        check(folder, UNSUITABLE, "give that one: -- ./prog 'a b'", *command, "--", *given, *tail)
        check(folder, UNSUITABLE, "LD_LIBRARY_PATH='/opt/lib dir'", *command, "--", *given, *tail)
        check(folder, UNSUITABLE, "give that one: -- PROG", *command, "--", loader, *tail)


def test_an_app_image_is_refused(folder: Path) -> None:
    content = bytearray((folder / "prog").read_bytes())
    content[8:11] = b"AI\x02"
    (folder / "app").write_bytes(content)
    (folder / "app").chmod(0o755)
    check(folder, UNSUITABLE, "run `./app --appimage-extract`", "record", "--", "./app")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["record", "./prog"], "goes after `--`"),
        (["record"], "program is missing"),
        (["record", "--"], "program is missing"),
        (["record", "--distance", "x", "--", "./prog"], "'x' is not a whole number"),
        (["run"], "program is missing"),
        (["run", "--"], "program is missing"),
        (["run", "--effort", "most", "--", "./prog"], "'most'"),
        (["run", "--objective", "heat", "--", "./prog"], "'heat'"),
        (["run", "--record", "a", "--record", "b", "--", "./prog"], "is given twice"),
        (["run", "--hold-out", "a", "--", "./prog", "a"], "is one that decides"),
        (["run", "--", "--", "./prog"], "program is missing between"),
        (["run", "--", "./prog", "a", "--", "/bin/cat", "b"], "one binary only"),
        (["run", "--trials", "0", "--", "./prog", "--", "./prog"], "'0' is not a number from 1"),
        (
            ["run", "--candidates", "magic", "--", "./prog", "--", "./prog"],
            "candidate 'magic' does not exist",
        ),
        (["baseline", "--cpu", "4000", "--", "./prog"], "Processor 4000 does not exist"),
        (["probe"], "program is missing"),
        (["probe", "--seconds", "0", "--", "./prog"], "'0' is not a number from 1"),
        (["probe", "--cpu", "4000", "--", "./prog"], "Processor 4000 does not exist"),
        (["bench"], "Name a bundled program"),
        (["bench", "nonsense"], "bundled program 'nonsense' does not exist"),
        (["bench", "--", "./prog"], "takes names and no program"),
        (["exec", "--", "./prog"], "--plan"),
        (["plan"], "PROFILE"),
        (["nonsense"], "nonsense"),
        (["plan", "x", "--option", "seed"], "is not KEY=VALUE"),
    ],
)
def test_wrong_command_lines(folder: Path, arguments: list[str], words: str) -> None:
    check(folder, USAGE, words, *arguments)


def test_an_input_file_that_is_not_there(folder: Path) -> None:
    check(folder, BAD_INPUT, "input file none", "baseline", "--stdin", "none", "--", "./prog")
    check(folder, BAD_INPUT, "does not exist", "baseline", "--json", "a/b", "--", "./prog")
    check(folder, BAD_INPUT, "input file none", "probe", "--stdin", "none", "--", "./prog")
    check(folder, BAD_INPUT, "does not exist", "probe", "--json", "a/b", "--", "./prog")
    check(folder, BAD_INPUT, "does not exist", "record", "-o", "a/b", "--", "./prog")


def test_a_list_of_programs_without_any(folder: Path) -> None:
    check(folder, BAD_INPUT, "lists no programs", "bench", "--list", HALO_BENCH=str(folder))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[program]]\nname = 'x'\n", "missing or unknown key"),
        ("[[program]]\nname = 1\n", "whose name is of the wrong kind: 1"),
        ("[[program]]\ntrain = 'abc'\n", "whose train is of the wrong kind: 'abc'"),
        ("[[program]]\nenv = { A = 1 }\n", "whose env is of the wrong kind"),
        ("[program]\nname = 'x'\n", "write [[program]]"),
        ("program = ", "cannot be read"),
    ],
)
def test_a_list_of_programs_that_is_none(folder: Path, text: str, words: str) -> None:
    (folder / "programs.toml").write_text(text)
    check(folder, BAD_INPUT, words, "bench", "x", HALO_BENCH=str(folder))


def test_a_program_whose_inputs_nothing_makes(folder: Path) -> None:
    (folder / "programs.toml").write_text(
        "[[program]]\nname = 'x'\nsummary = ''\nprogram = 'jq'\npackage = 'jq'\n"
        "train = []\nref = []\ngenerator = 'none.py'\n"
    )
    check(folder, BAD_INPUT, "none.py cannot make", "bench", "x", HALO_BENCH=str(folder))


def test_an_engine_that_there_is_not(folder: Path) -> None:
    for command in (["record", "--", "./prog"], ["simulate", "--", "./prog"]):
        words = "The engine pin does not exist; the engines are native, valgrind, llvm."
        check(folder, USAGE, words, *command, HALO_ENGINE="pin")
    check(folder, USAGE, "invalid choice", "record", "--engine", "pin", "--", "./prog")


def test_a_build_that_is_not_there(folder: Path) -> None:
    nowhere = str(folder / "nowhere")
    for command in ("record", "probe"):
        check(folder, MISSING, "run: make build", command, "--", "./prog", HALO_BUILD=nowhere)


def test_the_library_of_such_a_plan_is_not_there(folder: Path) -> None:
    (folder / "core" / "lib").mkdir(parents=True)
    (folder / "core" / "lib" / "libhalo.so").touch()
    write_plan(drawing_plan([PlanGroup(False, 0, True)] * 2, 4096, 16, None), folder / "pools.plan")
    words = ("exec", "--plan", "pools.plan", "--", "./prog")
    check(folder, MISSING, "libhalo-extra.so", *words, HALO_BUILD=str(folder / "core"))


def damaged_files(good: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "cut": good[: len(good) // 2],
        "garbage": b"\x00\x01garbage" * 100,
        "text": b"hello\n",
    }


NEWER = b'{"format": "halo-profile", "version": 99}'


@pytest.mark.parametrize(
    ("name", "content"), [*damaged_files(NEWER).items(), ("newer", NEWER), ("list", b"[]")]
)
def test_unusable_profiles(folder: Path, name: str, content: bytes) -> None:
    (folder / "x.profile").write_bytes(content)
    check(folder, BAD_PROFILE, "x.profile", "plan", "x.profile")


def test_a_profile_that_is_not_there(folder: Path) -> None:
    check(folder, BAD_PROFILE, "x.profile", "plan", "x.profile")
    check(folder, BAD_PROFILE, str(folder), "plan", str(folder))


def plan_file(version: int = 1, build_id: bytes = b"\x01" * 20) -> bytes:
    """A plan of one module, no group and a root that forwards."""
    body = build_id.ljust(32, b"\0") + struct.pack("<II", len(build_id), 0)
    body += struct.pack("<IIQiBBHhHI", 0, 0, 0, 0, 0, 0, 0xFFFE, 0, 0, 0)
    size = 64 + len(body)
    header = struct.pack(
        "<8sIIQIIIII", b"HALOPLAN", version, zlib.crc32(body), size, 1, 0, 1, 4096, 0
    )
    return header.ljust(64, b"\0") + body


@pytest.mark.parametrize(
    ("name", "content"), [*damaged_files(plan_file()).items(), ("newer", plan_file(version=99))]
)
def test_unusable_plans(folder: Path, name: str, content: bytes) -> None:
    (folder / "x.plan").write_bytes(content)
    check(folder, BAD_PLAN, "x.plan", "exec", "--plan", "x.plan", "--", "./prog")


def test_a_plan_that_is_not_there(folder: Path) -> None:
    check(folder, BAD_PLAN, "x.plan", "exec", "--plan", "x.plan", "--", "./prog")


@pytest.mark.parametrize("name", ["nonsense", "./missing.so"])
def test_unknown_allocators(folder: Path, name: str) -> None:
    (folder / "x.plan").write_bytes(plan_file())
    outcome = halo("exec", "--plan", "x.plan", "--allocator", name, "--", "./prog", cwd=folder)
    refused(outcome, USAGE if name == "nonsense" else MISSING, name)


def test_an_internal_error_is_one_line_with_a_hint(folder: Path) -> None:
    """A broken import stands for any internal error."""
    broken = folder / "broken" / "halo"
    shutil.copytree(REPOSITORY / "halo", broken)
    (broken / "plan" / "strategies" / "planning.py").write_text("raise RuntimeError('oh\\nno')\n")
    arguments = ["plan", "x.profile"]
    environment = {"PYTHONPATH": str(broken.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    refused(halo(*arguments, cwd=broken.parent, env=environment), 110, "HALO_DEBUG=1")
    debug = halo(*arguments, cwd=broken.parent, env={**environment, "HALO_DEBUG": "1"})
    assert "Traceback" in debug.stderr


def test_no_temporary_files_are_left(folder: Path) -> None:
    """All that a failing command makes in between lies in TMPDIR and is gone afterwards."""
    with tempfile.TemporaryDirectory() as scratch:  # whose path is short enough for halo
        environment = {"TMPDIR": scratch, "HALO_BUILD": str(BUILD)}
        halo("record", "-o", "a/b", "--", "./prog", cwd=folder, env=environment)
        halo("baseline", "--trials", "1", "--", "./prog", "x", cwd=folder, env=environment)
        assert os.listdir(scratch) == []
