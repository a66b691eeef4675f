"""Files are moved to their place in one step, also to another file system."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from halo.base.errors import BadInput
from halo.base.files.atomic import move_file


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A file on a file system in memory."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder, "made")
        path.write_bytes(b"new" * 100_000)
        yield path


def test_a_move_replaces_the_file_behind_a_link(elsewhere: Path, tmp_path: Path) -> None:
    place, link = tmp_path / "place", tmp_path / "link"
    place.write_text("old")
    link.symlink_to(place)
    move_file(elsewhere, link)
    assert link.is_symlink() and place.read_bytes() == b"new" * 100_000
    assert not elsewhere.exists()
    assert {path.name for path in tmp_path.iterdir()} == {"place", "link"}


def test_a_move_that_fails_keeps_the_old_file_and_the_new_one(
    elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(content: BinaryIO, file: BinaryIO) -> None:
        file.write(content.read(1000))
        raise OSError(28, "No space left on device")

    place = tmp_path / "place"
    place.write_text("old")
    monkeypatch.setattr("shutil.copyfileobj", copy)
    with pytest.raises(BadInput, match="No space left"):
        move_file(elsewhere, place)
    assert (place.read_text(), os.listdir(tmp_path)) == ("old", ["place"])
    assert elsewhere.exists()
