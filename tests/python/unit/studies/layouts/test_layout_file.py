"""Layout files: what is written is read, and everything else is refused."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.studies.layouts.layout_file import read_layout
from halo.studies.layouts.layout_format import LAYOUT_HEAD, LAYOUT_MAGIC, LAYOUT_VERSION

COLUMNS = struct.pack("<9I", 7, 3, 5, 0, 0, 1, 4, 4, 4)


def head(levels: int = 2, objects: int = 3, version: int = LAYOUT_VERSION) -> bytes:
    check = zlib.crc32(COLUMNS, zlib.crc32(struct.pack("<II", levels, objects)))
    return LAYOUT_HEAD.pack(LAYOUT_MAGIC, version, levels, objects, check)


def test_columns_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(head() + COLUMNS)
    layout = read_layout(tmp_path / "file")
    assert layout.objects.tolist() == [7, 3, 5]
    assert layout.communities.tolist() == [[0, 0, 1], [4, 4, 4]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a layout file"),
        (b"halo-obj" + bytes(40), "not a layout file"),
        (head(version=2) + COLUMNS, "version 2"),
        (head() + COLUMNS[:-1], "damaged: its size"),
        (head(objects=2) + COLUMNS, "damaged: its size"),
        (head() + COLUMNS[:-1] + b"\1", "checksum"),
        (head(levels=0, objects=9)[:-4] + head()[-4:] + COLUMNS, "checksum"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(BadInput, match=words):
        read_layout(tmp_path / "file")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_layout(tmp_path / "file")
