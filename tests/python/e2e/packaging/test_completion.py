"""The completion of bash, by a real bash on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import REPOSITORY

FIRST, LAST = "\x01", "\x05"  # the keys for the first and the last column


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("share")
    script = REPOSITORY / "scripts" / "packaging" / "generate_completions.py"
    subprocess.run([sys.executable, script, folder], check=True)
    return folder


def completed(share: Path, line: str, cwd: Path) -> str:
    """The command line after `line` and a tab, with its quotes and backslashes removed."""
    main, terminal = pty.openpty()
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "TERM": "dumb", "PS1": "", "INPUTRC": "/dev/null"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    script = share / "bash-completion" / "completions" / "halo"
    keys = f"source '{script}'\n{line}\t{FIRST}printf '<%s>' {LAST} end >shown\nexit\n"
    os.write(main, keys.encode())
    try:
        while os.read(main, 4096):
            pass
    except OSError:  # the shell has left the terminal
        pass
    os.close(main)
    assert shell.wait(timeout=30) == 0
    words = (cwd / "shown").read_text().strip("<>").split("><")
    return " ".join(words[:-1])


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("halo ru", "halo run"),
        ("halo stu", "halo study"),
        ("halo study tra", "halo study trace"),
        ("halo study trace off", "halo study trace offenders"),
        ("halo --vers", "halo --version"),
        ("halo run --tri", "halo run --trials"),
        ("halo run --trials 3 --ignore-", "halo run --trials 3 --ignore-output"),
        ("halo study heap age --mult", "halo study heap age --multiplier"),
        ("halo exec --plan my", "halo exec --plan my program.plan"),
        ("halo report so", "halo report some/"),
        ("halo run -- ./pr", "halo run -- ./program"),
        ("halo run -- ./program 1 -- ./pr", "halo run -- ./program 1 -- ./program"),
        ("halo run -- ./program run/inp", "halo run -- ./program run/input"),
    ],
)
def test_a_tab_completes(share: Path, tmp_path: Path, typed: str, wanted: str) -> None:
    (tmp_path / "my program.plan").touch()
    (tmp_path / "program").touch()
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "some").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "input").touch()
    assert completed(share, typed, tmp_path) == wanted
