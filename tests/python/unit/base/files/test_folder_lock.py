"""A folder that one process holds is refused to every other, until the process has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.base.files.folder_lock import held
from support.command import REPOSITORY, halo

HOLDER = """
import sys, time
from pathlib import Path
from halo.base.files.folder_lock import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def another_process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the folder."""
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_the_refusal_names_the_folder_and_the_process(tmp_path: Path) -> None:
    folder, link = tmp_path / "new" / "r", tmp_path / "link"
    with another_process(folder) as process:
        link.symlink_to(folder)
        for name in (folder, link):
            refused = pytest.raises(BadInput, match=f"is in use by process {process.pid},")
            with refused as found, held(name):
                pytest.fail("it is held twice")
            assert str(folder) in str(found.value)
    assert list(folder.iterdir()) == []  # the lock is not a file


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    with another_process(tmp_path / "r") as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        with held(tmp_path / "r"):
            pass


def test_a_folder_that_was_removed_meanwhile_is_made_again(tmp_path: Path) -> None:
    with held(tmp_path / "r"):
        (tmp_path / "r").rmdir()
        with held(tmp_path / "r"):
            assert (tmp_path / "r").is_dir()


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--trials", "1", "--", "true", "--", "true"],
        ["eval", "baseline", "--trials", "1", "--", "true"],
        ["heap", "age", "--trials", "1", "--", "true"],
    ],
    ids=lambda words: words[0],
)
def test_every_measurement_is_refused(tmp_path: Path, command: list[str]) -> None:
    at = command.index("--")
    words = [*command[:at], "--results", "my r", *command[at:]]
    with another_process(tmp_path / "my r") as process:
        outcome = halo(*words, cwd=tmp_path)
        assert outcome.status == 117
        assert f"{tmp_path}/my r is in use by process {process.pid}" in outcome.stderr
        assert len(outcome.stderr.splitlines()) == 1
        assert os.listdir(tmp_path / "my r") == []


@pytest.mark.parametrize("command", [["bench"], ["eval", "compare"]])
def test_programs_of_several_are_refused(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "r").mkdir()
    with another_process(tmp_path / "r" / "hospital") as process:
        given = ["--results", str(tmp_path / "r"), "hospital"]
        if command == ["bench"]:
            given = ["--results", str(tmp_path / "r" / "hospital"), "hospital"]
        outcome = halo(*command, "--trials", "1", *given, cwd=tmp_path)
        assert outcome.status == 117, outcome.stderr
        assert f"is in use by process {process.pid}" in outcome.stderr
        assert os.listdir(tmp_path / "r" / "hospital") == []
