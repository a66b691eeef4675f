"""Surveys that are stored by what they depend on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from halo.binary.alignment import survey_cache
from halo.binary.alignment.survey_cache import MAX_FILES, stored


@dataclass(frozen=True)
class Thing:
    number: int


class Maker:
    """Makes things, and counts them."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> Thing:
        self.made += 1
        return Thing(self.made)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    path = tmp_path / "libx.so"
    path.write_bytes(b"one")
    return path


def surveys(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "home").glob("**/*.json"))


def test_a_survey_is_made_once_and_again_if_anything_is_other(module: Path) -> None:
    make = Maker()
    assert [stored(module, Thing, make) for _ in range(3)] == 3 * [Thing(1)]
    module.write_bytes(b"two")
    assert stored(module, Thing, make) == Thing(2)
    renamed = module.rename(module.with_name("liby.so"))
    assert stored(renamed, Thing, make) == Thing(3), "string functions depend on the name"
    renamed.rename(module)
    module.write_bytes(b"one")
    assert stored(module, Thing, make) == Thing(1)


def test_other_code_makes_other_surveys(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Maker()
    stored(module, Thing, make)
    monkeypatch.setattr(survey_cache, "_code", lambda: "later")
    assert stored(module, Thing, make) == Thing(2)


@pytest.mark.parametrize("damage", [b"", b"{", b'{"number": "x"}', b"\xff"])
def test_a_damaged_file_is_replaced(module: Path, tmp_path: Path, damage: bytes) -> None:
    make = Maker()
    stored(module, Thing, make)
    [file] = surveys(tmp_path)
    file.write_bytes(damage)
    assert [stored(module, Thing, make) for _ in range(2)] == 2 * [Thing(2)]


def test_only_the_latest_are_kept(module: Path, tmp_path: Path) -> None:
    make = Maker()
    stored(module, Thing, make)
    [used] = surveys(tmp_path)
    for number in range(MAX_FILES):
        (used.parent / f"{number}.json").write_bytes(b"")
        os.utime(used.parent / f"{number}.json", (number, number))
    module.write_bytes(b"two")
    stored(module, Thing, make)
    left = surveys(tmp_path)
    assert len(left) == MAX_FILES and used in left
    assert {f"{number}.json" for number in (0, 1)}.isdisjoint(file.name for file in left)


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_folder_that_others_may_write_to_is_not_used(
    module: Path, tmp_path: Path, mode: int
) -> None:
    (tmp_path / "home").chmod(mode)
    make = Maker()
    assert [stored(module, Thing, make) for _ in range(2)] == [Thing(1), Thing(2)]
    assert surveys(tmp_path) == []


def test_the_folder_of_another_user_is_not_used(
    module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    stored(module, Thing, Maker())
    assert surveys(tmp_path) == []


@pytest.mark.parametrize("base", ["relative", "/dev/null", "/proc/1/x"])
def test_without_a_folder_surveys_are_made(
    module: Path, monkeypatch: pytest.MonkeyPatch, base: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    make = Maker()
    assert [stored(module, Thing, make) for _ in range(2)] == [Thing(1), Thing(2)]


def test_a_missing_module_is_an_error(module: Path) -> None:
    with pytest.raises(OSError, match="libz"):
        stored(module.with_name("libz.so"), Thing, Maker())
