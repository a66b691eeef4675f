"""An installed copy is complete: it runs without the checkout, and after a move."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.command import REPOSITORY

PROGRAM = "#include <stdlib.h>\nint main(void) { free(malloc(24)); return 0; }\n"


def run(*words: str | Path, cwd: Path) -> str:
    """Its standard output; HALO_* and PYTHON* variables of the tests are not passed on."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "HALO_"))}
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    installed = tmp_path_factory.mktemp("installed")
    run(REPOSITORY / "scripts" / "install.sh", installed / "first", cwd=installed)
    return (installed / "first").rename(installed / "moved")


def test_an_installed_copy_records_and_plans(prefix: Path, tmp_path: Path) -> None:
    halo = prefix / "bin" / "halo"
    assert str(REPOSITORY) not in run(halo, "doctor", cwd=tmp_path)
    installed = run(halo, "--version", cwd=tmp_path)
    assert installed == run(REPOSITORY / "bin" / "halo", "--version", cwd=tmp_path)
    run(halo, "record", "-o", "ls.profile", "--", "ls", "/", cwd=tmp_path)
    run(halo, "plan", "-o", "ls.plan", "ls.profile", cwd=tmp_path)
    assert "bin" in run(halo, "exec", "--plan", "ls.plan", "--", "ls", "/", cwd=tmp_path)


def test_an_installed_copy_has_manual_pages_and_completions(prefix: Path) -> None:
    for file in ("man/man1/halo-run.1", "bash-completion/completions/halo"):
        assert (prefix / "share" / file).is_file()


def test_an_installed_copy_measures(prefix: Path, tmp_path: Path) -> None:
    halo = prefix / "bin" / "halo"
    shown = run(halo, "run", "--trials", "1", "--", "ls", "/", "--", "ls", "/", cwd=tmp_path)
    assert "glibc" in shown and "Results: " in shown


def test_an_installed_compiler_traces(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(PROGRAM)
    run(prefix / "bin" / "halo-cc", "-o", "program", "program.c", cwd=tmp_path)
    run(prefix / "bin" / "halo", "trace", "run", "--", "./program", cwd=tmp_path)
    assert (tmp_path / "program.trace").exists()


def test_a_prefix_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = subprocess.run(
        [REPOSITORY / "scripts" / "install.sh", tmp_path / "file"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "cannot be written" in done.stderr.splitlines()[-1]
