"""The compiler wrappers stand in for a compiler: builds that know nothing of them just work."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from halo.base.settings import read_settings

SETTINGS = read_settings()
CC = str(SETTINGS.repository / "bin" / "halo-cc")
CXX = str(SETTINGS.repository / "bin" / "halo-c++")

MAKEFILE = """\
CFLAGS = -O2 -std=gnu17
CXXFLAGS = -O2 -std=gnu++20
CPPFLAGS = -Iinclude
all: hospital rbtree
hospital: $(patsubst %.c,%.o,$(wildcard include/hospital/*.c include/common/*.c))
\t$(CC) $^ -o $@
rbtree: include/common/args.o $(patsubst %.cc,%.o,$(wildcard include/rbtree/*.cc))
\t$(CXX) $^ -o $@
"""

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(bundled C CXX)
set(CMAKE_CXX_STANDARD 20)
include_directories(include)
file(GLOB hospital include/hospital/*.c)
file(GLOB rbtree include/rbtree/*.cc)
add_library(common SHARED include/common/args.c)
add_executable(hospital ${hospital})
add_executable(rbtree ${rbtree})
target_link_libraries(hospital common)
target_link_libraries(rbtree common)
"""

ARGUMENTS = {"hospital": ("3", "20", "1"), "rbtree": ("200", "500", "50", "1")}
KINDS = ("load", "store", "enter", "exit")


@dataclass(frozen=True)
class Built:
    """Where a build left the programs."""

    folder: Path

    def run(self, name: str, trace: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if key != "HALO_TRACE"}
        if trace is not None:
            environment["HALO_TRACE"] = trace
        command = [str(self.folder / name), *ARGUMENTS[name]]
        return subprocess.run(command, env=environment, capture_output=True, text=True)


def call(*command: str, where: Path) -> str:
    """The wrappers come by the environment alone, as in `CC=… CXX=… make`."""
    environment = {**os.environ, "CC": CC, "CXX": CXX}
    done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sources(folder: Path) -> None:
    for name in ("common", "hospital", "rbtree"):
        shutil.copytree(SETTINGS.bench / name, folder / "include" / name)


@pytest.fixture(scope="module", params=["make", "cmake"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp(request.param)
    sources(folder)
    if request.param == "make":
        (folder / "Makefile").write_text(MAKEFILE)
        call("make", where=folder)
        return Built(folder)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    call("cmake", "-S", ".", "-B", "out", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", where=folder)
    call("cmake", "--build", "out", where=folder)
    return Built(folder / "out")


def info(trace: Path) -> dict[str, object]:
    command = [str(SETTINGS.build / "bin" / "halo-trace"), "info", str(trace)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", ARGUMENTS)
def test_programs_print_what_they_print_without_the_wrappers(built: Built, name: str) -> None:
    native = Built(SETTINGS.build / "bench").run(name)
    assert native.returncode == 0
    for trace in (None, "", "none"):
        found = built.run(name, trace)
        assert (found.returncode, found.stdout, found.stderr) == (0, native.stdout, "")


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_trace_is_whole_and_has_events_of_each_kind(
    built: Built, name: str, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    assert built.run(name, f"file:{trace}").returncode == 0
    found = info(trace)
    assert (found["ending"], found["lost"]) == ("complete", 0)
    events = found["events"]
    assert isinstance(events, dict)
    assert all(events[kind] > 0 for kind in KINDS)


@pytest.mark.parametrize(("compiler", "language"), [(CC, "c"), (CXX, "c++")])
def test_what_configure_scripts_ask_is_answered(
    compiler: str, language: str, tmp_path: Path
) -> None:
    assert "clang" in call(compiler, "--version", where=tmp_path)
    assert call(compiler, "-dumpmachine", where=tmp_path).startswith("x86_64")
    source = tmp_path / f"conftest.{'c' if language == 'c' else 'cc'}"
    source.write_text("int answer = __LINE__; int main() { return 0; }\n")
    assert "answer = 1" in call(compiler, "-E", str(source), where=tmp_path)
    assert "conftest" in call(compiler, "-MM", str(source), where=tmp_path)
    call(compiler, "-fsyntax-only", str(source), where=tmp_path)
    call(compiler, str(source), where=tmp_path)
    assert subprocess.run([tmp_path / "a.out"]).returncode == 0


@pytest.mark.parametrize(("compiler", "language"), [(CC, "c"), (CXX, "c++")])
def test_a_failing_compilation_fails_as_without_the_wrapper(
    compiler: str, language: str, tmp_path: Path
) -> None:
    text = "int main() { return missing(1) }\n"
    command = [compiler, "-x", language, "-c", "-", "-o", str(tmp_path / "made.o")]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    plain = ["clang-19" if language == "c" else "clang++-19", *command[1:]]
    expected = subprocess.run(plain, input=text, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (expected.returncode, expected.stderr)
    assert not (tmp_path / "made.o").exists()
