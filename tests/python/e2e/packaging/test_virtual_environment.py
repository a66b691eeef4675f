"""A checkout keeps its virtual environment, unless that was made for another path."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.command import REPOSITORY


def prepare(folder: Path) -> None:
    scripted("prepare_venv", folder).check_returncode()


def was_made_elsewhere(folder: Path) -> bool:
    done = scripted("was_made_elsewhere", folder)
    assert done.returncode in {0, 1} and not done.stderr
    return done.returncode == 0


def scripted(function: str, folder: Path) -> subprocess.CompletedProcess[str]:
    source = f'source "{REPOSITORY}/scripts/venv.sh"; {function} "$1"'
    return subprocess.run(
        ["bash", "-c", source, "bash", folder], capture_output=True, text=True, check=False
    )


def test_only_a_moved_environment_is_made_again(tmp_path: Path) -> None:
    made, moved = tmp_path / "made here", tmp_path / "moved"
    assert not was_made_elsewhere(made)
    prepare(made)
    assert not was_made_elsewhere(made)
    kept = made / "kept"
    kept.touch()
    prepare(made)
    assert kept.exists()
    made.rename(moved)
    assert was_made_elsewhere(moved)
