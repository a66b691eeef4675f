"""The layers of docs/architecture.md: who may use whom, in src/ and in halo/."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from command import REPOSITORY

PAGE = (REPOSITORY / "docs" / "architecture.md").read_text()
SECTION = PAGE[PAGE.index("## Layers") :].partition("\n## ")[0]


def native_layers() -> dict[str, set[str]]:
    """Each layer and those it may use: the ones above it in its list, and `base`."""
    allowed: dict[str, set[str]] = {}
    above: set[str] = set()
    for number, layer in re.findall(r"^(\d+)\. `src/(\w+)`", SECTION, re.MULTILINE):
        above = {"base"} if number == "1" else above
        allowed[layer] = set(above)
        above = above | {layer}
    return allowed


NATIVE = native_layers()
# All parts of the Python package, lowest first; the page names the larger ones.
PYTHON = [
    "errors",
    "settings",
    "ending_signals",
    "outcome",
    "scratch",
    "destination",
    "terminal",
    "elf",
    "profile",
    "allocators",
    "alignment",
    "plan",
    "strategies",
    "transfer",
    "planning",
    "matching",
    "target",
    "foreground",
    "aging",
    "progress",
    "qemu",
    "recording",
    "simulation",
    "analyses",
    "tracing",
    "producers",
    "trials",
    "results",
    "figures",
    "report",
    "checks",
    "doctor",
    "commands",
    "cli",
]
SOURCES = sorted((REPOSITORY / "src").rglob("*.[ch]*"))


@pytest.mark.parametrize("layer", NATIVE)
def test_native_layers_include_only_those_below(layer: str) -> None:
    allowed = NATIVE[layer] | {layer}
    for path in SOURCES:
        if path.relative_to(REPOSITORY / "src").parts[0] == layer:
            for name in re.findall(r'#include "([a-z]+)/', path.read_text()):
                assert name not in set(NATIVE) - allowed, f"{path} includes {name}/"


def test_every_native_folder_is_a_layer() -> None:
    folders = {path.relative_to(REPOSITORY / "src").parts[0] for path in SOURCES}
    assert folders <= set(NATIVE)


def test_the_runtime_never_links_the_sinks() -> None:
    text = (REPOSITORY / "src" / "runtime" / "CMakeLists.txt").read_text()
    assert "sinks" not in re.sub(r"#.*", "", text)


def used_by(path: Path) -> set[str]:
    """The parts of halo that a file imports when it is loaded or run."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("halo."):
            found.add(str(node.module).split(".")[1])
    return found


@pytest.mark.parametrize("part", PYTHON)
def test_python_parts_import_only_those_below(part: str) -> None:
    place = PYTHON.index(part)
    folder = REPOSITORY / "halo" / part
    for path in folder.rglob("*.py") if folder.is_dir() else [folder.with_suffix(".py")]:
        for name in used_by(path):
            assert PYTHON.index(name) <= place, f"{path} imports halo.{name}"


def test_every_python_part_has_its_place() -> None:
    parts = {
        path.stem for path in (REPOSITORY / "halo").iterdir() if not path.stem.startswith("__")
    }
    assert parts == set(PYTHON)


def test_the_page_lists_the_native_layers() -> None:
    """Guards against a page that no longer reads as a list: then nothing would be checked."""
    assert list(NATIVE) == [
        "base",
        "trace",
        "pass",
        "simulator",
        "sinks",
        "record",
        "litter",
        "logging",
        "plan",
        "runtime",
    ]
    assert NATIVE["runtime"] == {"base", "plan"}


def test_the_page_names_the_python_parts_in_this_order() -> None:
    named = re.findall(r"`halo/(\w+)(?:\.py)?`", SECTION)
    assert len(named) > 5
    assert named == [part for part in PYTHON if part in named]
