"""Contents files: what is written is read, and everything else is refused."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from halo.errors import BadInput
from halo.layouts.contents_file import read_contents
from halo.layouts.contents_format import (
    CONTENTS_HEAD,
    CONTENTS_MAGIC,
    CONTENTS_ROW,
    CONTENTS_VERSION,
    CONTENTS_WORDS,
)

WORDS = (1, 2**64 - 1, *(0,) * (CONTENTS_WORDS - 2))
ROWS = CONTENTS_ROW.pack(7, 0x7F0000000010, 12, 3, 2, 0, *WORDS)
ROWS += CONTENTS_ROW.pack(5, 0x20, 4096, 4, 16, 0, *range(CONTENTS_WORDS))


def head(rows: int = 2, version: int = CONTENTS_VERSION, body: bytes = ROWS) -> bytes:
    check = zlib.crc32(body + rows.to_bytes(8, "little"))
    return CONTENTS_HEAD.pack(CONTENTS_MAGIC, version, check, rows)


def test_rows_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(head() + ROWS)
    contents = read_contents(tmp_path / "file")
    assert contents.numbers.tolist() == [7, 5]
    assert contents.addresses.tolist() == [0x7F0000000010, 0x20]
    assert contents.sizes.tolist() == [12, 4096]
    assert contents.contexts.tolist() == [3, 4]
    assert contents.counts.tolist() == [2, 16]
    assert contents.words.tolist() == [list(WORDS), list(range(CONTENTS_WORDS))]


def test_a_file_without_rows_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(head(rows=0, body=b""))
    assert read_contents(tmp_path / "file").words.shape == (0, CONTENTS_WORDS)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a contents file"),
        (b"halo-lay" + bytes(40), "not a contents file"),
        (head()[:-1], "not a contents file"),
        (head(version=2) + ROWS, "version 2"),
        (head() + ROWS[:-1], "damaged: its size"),
        (head(rows=1) + ROWS, "damaged: its size"),
        (head(rows=2**60) + ROWS, "damaged: its size"),
        (head() + ROWS[:-1] + b"\1", "checksum"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(BadInput, match=words):
        read_contents(tmp_path / "file")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_contents(tmp_path / "file")
