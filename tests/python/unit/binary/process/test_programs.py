"""Programs that cannot be found or started, and the interpreters of scripts."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import NoReturn

import pytest

from halo.base.errors import BadInput, CannotRun
from halo.base.files.destination import check_place
from halo.binary.process.foreground import become
from halo.binary.process.scripts import interpreter_of
from halo.binary.process.target import locate_target


def test_folders_of_path_that_cannot_be_searched_are_passed_over(tmp_path: Path) -> None:
    found = locate_target("true", {"PATH": f"/{'x' * 300}:/usr/bin"})
    assert found.path == Path("/usr/bin/true")
    with pytest.raises(CannotRun, match="not found in PATH"):
        locate_target("x" * 300, {"PATH": "/usr/bin"})


@pytest.mark.parametrize(
    ("line", "interpreter"),
    [
        ("#!/usr/bin/env -S python3 -u", "python3 -u"),
        ("#!/usr/bin/awk -f", "/usr/bin/awk -f"),
        ("#!/usr/bin/env perl", "perl"),
        ("#! /bin/sh", "/bin/sh"),
        ("#!", "INTERPRETER"),
    ],
)
def test_interpreters_keep_their_options(line: str, interpreter: str) -> None:
    assert interpreter_of(f"{line}\nmore".encode()) == interpreter


def test_a_program_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def execute(*_: object) -> NoReturn:
        raise OSError(7, "Argument list too long")

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(os, "execve", execute)
    with pytest.raises(CannotRun, match="Argument list too long"):
        become("/bin/true", ["true"], {})


def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone" / "file")
    with pytest.raises(BadInput, match="gone does not exist"):
        check_place(tmp_path / "link")
    check_place(tmp_path / "new")
    check_place(Path("/dev/null"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(BadInput, match="not writable"):
        check_place(tmp_path / "new")
    check_place(Path("/dev/null"))
