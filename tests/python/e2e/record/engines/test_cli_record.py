"""`halo record` is not noticed by the program: streams, exit status, signals and preloads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from halo.record.profile import read_profile
from support.command import compile_c, halo
from support.programs.sources import LIST
from support.recordings import tells_only_its_file

WAITS = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void handle(int number) { _exit(40 + number); }
int main(int argc, char **argv) {
  if (argc > 1) signal(SIGTERM, handle);
  free(malloc(10));
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    compile_c(LIST, tmp_path / "list")
    return tmp_path


def test_output_and_exit_status_are_the_programs(folder: Path) -> None:
    outcome = halo("record", "--", "./list", "50", cwd=folder)
    assert (outcome.status, outcome.stdout) == (7, "24500\n")
    assert tells_only_its_file(outcome.stderr, "list.profile")
    profile = read_profile(folder / "list.profile")
    assert profile.totals.allocations >= 100
    assert profile.args == ("50",)
    assert sorted(os.listdir(folder)) == ["list", "list.profile"]


def test_input_is_the_programs(tmp_path: Path) -> None:
    outcome = halo("record", "--", "cat", cwd=tmp_path, stdin="hello")
    assert (outcome.status, outcome.stdout) == (0, "hello")


def test_the_programs_name_is_as_typed(tmp_path: Path) -> None:
    outcome = halo("record", "--", "sh", "-c", "echo $0", cwd=tmp_path)
    assert outcome.stdout == "sh\n"


def test_death_by_a_signal_is_passed_on(tmp_path: Path) -> None:
    compile_c("#include <stdlib.h>\nint main(void) { free(malloc(1)); abort(); }", tmp_path / "p")
    outcome = halo("record", "--", "./p", cwd=tmp_path)
    assert outcome.status == -signal.SIGABRT
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize(("arguments", "status"), [([], -signal.SIGTERM), (["x"], 40 + 15)])
def test_signals_reach_the_program(tmp_path: Path, arguments: list[str], status: int) -> None:
    compile_c(WAITS, tmp_path / "waits")
    command = [sys.executable, "-m", "halo", "record", "--", "./waits", *arguments]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.terminate()
        assert process.wait(30) == status


def test_what_the_user_preloads_is_loaded_in_the_program(tmp_path: Path) -> None:
    source = (
        '#include <unistd.h>\n__attribute__((constructor)) void f(void) { write(1, "hi ", 3); }'
    )
    library = compile_c(source, tmp_path / "hi.so", "-shared", "-fPIC")
    compile_c('#include <unistd.h>\nint main(void) { write(1, "there", 5); }', tmp_path / "prog")
    command = [sys.executable, "-m", "halo", "record", "--", "./prog"]
    done = subprocess.run(
        ["env", f"LD_PRELOAD={library}", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("hi there")


@pytest.mark.parametrize("engine", ["native", "valgrind"])
def test_a_temporary_folder_with_any_letters_will_do(folder: Path, engine: str) -> None:
    odd = folder / "a,b:c d"
    odd.mkdir()
    command = ("record", "--engine", engine, "--", "./list")
    assert halo(*command, cwd=folder, env={"TMPDIR": str(odd)}).status == 7
    assert read_profile(folder / "list.profile").contexts


def test_a_temporary_folder_with_a_long_path_will_do(folder: Path) -> None:
    """The path of a socket has 107 bytes at most."""
    long = folder / ("long" * 30)
    long.mkdir()
    assert halo("record", "--", "./list", cwd=folder, env={"TMPDIR": str(long)}).status == 7
    assert read_profile(folder / "list.profile").contexts
    assert not list(long.iterdir())


def test_an_old_profile_stays_where_recording_fails(folder: Path) -> None:
    (folder / "list.profile").write_text("old")
    outcome = halo("record", "--", "./list", cwd=folder, env={"HALO_BUILD": "/nowhere"})
    assert outcome.status == 114
    assert (folder / "list.profile").read_text() == "old"
