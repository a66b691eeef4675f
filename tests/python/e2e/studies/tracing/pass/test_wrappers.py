"""The compilers bin/halo-cc and bin/halo-c++: how they call clang, and what they refuse."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.command import make_compilers
from support.tracing_stub import PASS, build_stub

SOURCE = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
ONLY_COMPILING = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wrappers as scripts/build.sh makes them, over the stub of the logging library."""
    root = tmp_path_factory.mktemp("halo")
    (root / "bin").mkdir()
    (root / "build" / "lib").mkdir(parents=True)
    (root / "build" / "lib" / "libhalo-pass.so").symlink_to(PASS)
    build_stub(root / "build" / "lib")
    make_compilers(root / "bin")
    return root / "bin"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "hello.c").write_text(SOURCE)
    return tmp_path / "hello.c"


def call(
    wrapper: Path, *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(wrapper), *arguments],
        env={**os.environ, **(env or {})},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def said(wrapper: Path, *arguments: str, env: Mapping[str, str] | None = None) -> list[str]:
    """What the wrapper would call."""
    done = call(wrapper, *arguments, env={"HALO_CLANG": "echo", **(env or {})})
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def needed(program: Path) -> str:
    return subprocess.run(
        ["readelf", "-dW", program], capture_output=True, text=True, check=True
    ).stdout


def test_in_one_step_and_in_two(installed: Path, source: Path, tmp_path: Path) -> None:
    strict = ["-Wall", "-Wextra", "-Werror"]
    assert call(installed / "halo-cc", *strict, str(source), "-o", "one", cwd=tmp_path).stderr == ""
    done = call(installed / "halo-cc", *strict, "-c", str(source), "-o", "two.o", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert call(installed / "halo-cc", "-Werror", "two.o", "-o", "two", cwd=tmp_path).stderr == ""
    for name in ("one", "two"):
        assert call(tmp_path / name).stdout == "hello\n"
        dynamic = needed(tmp_path / name)
        assert dynamic.index("libhalo-logging.so") < dynamic.index("libc.so")


def test_it_is_found_through_a_link_and_in_the_path(
    installed: Path, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "cc").symlink_to(installed / "halo-cc")
    assert call(tmp_path / "cc", str(source), "-o", str(tmp_path / "linked")).returncode == 0
    path = {"PATH": f"{installed}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", "halo-cc hello.c -o found"],
        cwd=tmp_path,
        env={**os.environ, **path},
        check=False,
    )
    assert done.returncode == 0 and call(tmp_path / "found").stdout == "hello\n"


def test_only_links_are_linked(installed: Path) -> None:
    cc = installed / "halo-cc"
    for option in ONLY_COMPILING:
        assert "-lhalo-logging" not in said(cc, option, "x.c")
    for options in (["--version"], ["-print-search-dirs"], ["-dumpmachine"], ["-v"], ["-r", "x.o"]):
        assert "-lhalo-logging" not in said(cc, *options)
    for options in (["x.c"], ["x.o", "-o", "x"], ["-shared", "-nostdlib", "x.o"], ["-xc", "-"]):
        assert "-lhalo-logging" in said(cc, *options)
    assert "-lhalo-logging" not in said(cc, "-o", "x")  # nothing to link: clang will say so


def test_debug_information_is_as_the_program_asks(installed: Path) -> None:
    words = said(installed / "halo-cc", "-g1", "-c", "x.c")
    assert words.index("-g") < words.index("-g1")


def test_arguments_arrive_as_they_are(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "say.c").write_text("#include <stdio.h>\nint main(void) { puts(TEXT); }\n")
    text = "-DTEXT=\"a  'b' $HOME *\""
    done = call(installed / "halo-cc", text, "say.c", "-o", "say it", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert call(tmp_path / "say it").stdout == "a  'b' $HOME *\n"


def test_assembler_and_preprocessed_inputs(installed: Path, source: Path, tmp_path: Path) -> None:
    cc = installed / "halo-cc"
    for option, name in (("-S", "hello.s"), ("-E", "hello.i")):
        assert call(cc, option, str(source), "-o", name, cwd=tmp_path).returncode == 0
        done = call(cc, "-Werror", name, "-o", "again", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert call(tmp_path / "again").stdout == "hello\n"
    (tmp_path / "bare.S").write_text("#define NAME answer\n.globl NAME\nNAME: ret\n")
    assert call(cc, "-c", "-Werror", "bare.S", cwd=tmp_path).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--halo-colour=red"], "'colour=red' is none of function=GLOB"),
        (["--halo-event=acess"], "'event=acess' names none of access, read, write"),
        (["--halo-type="], "'type=' is none of"),
        (["--halo-function=[a"], "'function=[a' is not a glob"),
        (["--halo-file=a b"], "'file=a b' must not hold blanks"),
        (["--halo-allocators=/nowhere"], "the list of allocators /nowhere cannot be read"),
        (["-static"], "a static program cannot be traced"),
    ],
)
def test_what_it_refuses(
    installed: Path, source: Path, arguments: list[str], sentence: str
) -> None:
    done = call(installed / "halo-cc", *arguments, str(source))
    assert (done.returncode, done.stdout) == (111, "")
    assert done.stderr.startswith("halo-cc: ") and sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_options_come_from_both_places(installed: Path, source: Path, tmp_path: Path) -> None:
    environment = {"HALO_INSTRUMENT": "event=call function=ma*"}
    refused = call(
        installed / "halo-cc", str(source), env={"HALO_INSTRUMENT": "evnt=call"}, cwd=tmp_path
    )
    assert refused.returncode == 111
    listing = ["-O2", "-S", "-o", "-", str(source)]
    assert "halo_log_v1" in call(installed / "halo-cc", *listing, env=environment).stdout
    excluded = call(installed / "halo-cc", "--halo-function=!main", *listing, env=environment)
    assert excluded.returncode == 0 and "halo_log_v1" not in excluded.stdout


def test_a_missing_part_of_the_build(installed: Path, source: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    lonely = tmp_path / "bin" / "halo-cc"
    lonely.write_bytes((installed / "halo-cc").read_bytes())
    lonely.chmod(0o755)
    done = call(lonely, "-c", str(source))
    assert done.returncode == 114 and "libhalo-pass.so is missing" in done.stderr
