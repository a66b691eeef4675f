"""The layers of docs/architecture.md: the permitted dependencies in src/ and in halo/."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.command import REPOSITORY

PAGE = (REPOSITORY / "docs" / "architecture.md").read_text()
SOURCE = REPOSITORY / "src"
RUNTIME = SOURCE / "runtime"
HALO = REPOSITORY / "halo"
ROW = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", re.MULTILINE)

Edges = Mapping[str, frozenset[str]]


def declared(heading: str) -> Edges:
    """The parts that each part may use, by the table below that text."""
    table = PAGE[PAGE.index(heading) :].split("\n\n")
    rows = ROW.findall(next(block for block in table if ROW.search(block)))
    found: dict[str, frozenset[str]] = {}
    for part, uses in rows:
        everything = uses.strip() == "all of the above"
        found[part] = frozenset(found) if everything else frozenset(re.findall(r"`(\w+)`", uses))
    return found


NATIVE = declared("### Native: `src`")
ROLES = declared("| folder of `src/runtime` |")
PYTHON = declared("### Python: `halo`")


def included(folder: Path, pattern: str) -> set[str]:
    return {
        name
        for path in folder.rglob("*.[ch]*")
        for name in re.findall(pattern, path.read_text())
        if name != folder.name
    }


def imported(part: Path) -> set[str]:
    """The parts of halo that a part imports when it is loaded or run."""
    found = set()
    for path in part.rglob("*.py") if part.is_dir() else [part.with_suffix(".py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("halo."):
                found.add(str(node.module).split(".")[1])
    return found - {part.name}


@pytest.mark.parametrize("edges", [NATIVE, ROLES, PYTHON], ids=["native", "runtime", "python"])
def test_each_part_uses_only_parts_above_it_in_its_table(edges: Edges) -> None:
    assert len(edges) > 10
    above: set[str] = set()
    for part, uses in edges.items():
        assert uses <= above, part
        above.add(part)


@pytest.mark.parametrize("layer", NATIVE)
def test_native_layers_include_what_is_declared(layer: str) -> None:
    assert included(SOURCE / layer, r'#include "(\w+)/') == set(NATIVE[layer])


@pytest.mark.parametrize("role", ROLES)
def test_folders_of_the_runtime_include_what_is_declared(role: str) -> None:
    assert included(RUNTIME / role, r'#include "runtime/(\w+)/') == set(ROLES[role])


@pytest.mark.parametrize("part", PYTHON)
def test_python_parts_import_what_is_declared(part: str) -> None:
    assert imported(HALO / part) - {"errors"} <= PYTHON[part]
    if part != "commands":
        assert imported(HALO / part) == set(PYTHON[part])


def test_every_folder_is_declared() -> None:
    assert {path.name for path in SOURCE.iterdir() if path.is_dir()} == set(NATIVE)
    assert {path.name for path in RUNTIME.iterdir() if path.is_dir()} == set(ROLES)
    parts = {path.stem for path in HALO.iterdir() if not path.stem.startswith("__")}
    assert parts == set(PYTHON)


def test_the_runtime_never_links_the_sinks() -> None:
    assert "runtime" in NATIVE
    text = (RUNTIME / "CMakeLists.txt").read_text()
    assert "sinks" not in re.sub(r"#.*", "", text)
