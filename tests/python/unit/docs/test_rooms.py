"""The rooms of src/README.md and halo/README.md: whom each may use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command import REPOSITORY

SOURCE, HALO = REPOSITORY / "src", REPOSITORY / "halo"
INCLUDE = re.compile(r'^#include "(\w+)/', re.MULTILINE)
MAX_LINES = 45  # of a page that explains rooms


def rooms(folder: Path) -> list[str]:
    """The rooms in the first table of the folder's page, from the ground up."""
    page = (folder / "README.md").read_text()
    return re.findall(r"^\| `(\w+)/` \|", page.partition("\n## ")[0], re.MULTILINE)


def included(room: Path) -> Iterator[tuple[Path, str]]:
    for path in room.rglob("*.[ch]*"):
        for name in INCLUDE.findall(path.read_text()):
            yield path, name


def imported(room: Path) -> Iterator[tuple[Path, str]]:
    """The rooms whose modules a room imports, when it is loaded or when it runs."""
    for path in room.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("halo."):
                yield path, str(node.module).split(".")[1]


@pytest.mark.parametrize("folder", [SOURCE, HALO], ids=["src", "halo"])
def test_every_folder_is_a_room_on_a_short_page(folder: Path) -> None:
    code = (*folder.glob("*/**/*.py"), *folder.glob("*/**/*.h"))
    found = {path.relative_to(folder).parts[0] for path in code}
    assert found == set(rooms(folder))
    assert len((folder / "README.md").read_text().splitlines()) <= MAX_LINES


@pytest.mark.parametrize("room", rooms(SOURCE))
def test_native_rooms_include_only_rooms_below_them(room: str) -> None:
    order = rooms(SOURCE)
    below = order[: order.index(room) + 1]
    assert [(path, name) for path, name in included(SOURCE / room) if name not in below] == []


@pytest.mark.parametrize("room", rooms(HALO))
def test_python_rooms_import_only_rooms_below_them(room: str) -> None:
    order = rooms(HALO)
    below = [*order[: order.index(room) + 1], "registry"]
    assert [(path, name) for path, name in imported(HALO / room) if name not in below] == []


def classes(room: Path) -> Iterator[tuple[str, Path]]:
    for path in room.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, path


def test_a_class_of_the_main_job_has_a_name_of_its_own() -> None:
    """Only the options of strategies are called alike, as each strategy has some."""
    found: dict[str, set[Path]] = {}
    for room in rooms(HALO):
        if room != "studies":
            for name, path in classes(HALO / room):
                found.setdefault(name, set()).add(path)
    strategies = found.pop("Options")
    assert {path.is_relative_to(HALO / "plan" / "strategies") for path in strategies} == {True}
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_doors_exist() -> None:
    for folder in (SOURCE, HALO):
        page = (folder / "README.md").read_text()
        doors = re.findall(r"\| `([\w/]+\.(?:h|cc|py))` \|$", page, re.MULTILINE)
        assert len(doors) > 6
        assert [door for door in doors if not (folder / door).is_file()] == []
