"""docs/reliability.md has every hazard, and names tests that exist."""

from __future__ import annotations

import ast
import re

import pytest

from support.command import REPOSITORY

PAGE = (REPOSITORY / "docs" / "reliability.md").read_text()
ROWS = re.findall(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
HAZARDS = 46
NATIVE = REPOSITORY / "fuzz" / "CMakeLists.txt"


def test_every_hazard_is_there() -> None:
    assert [int(number) for number, *_ in ROWS] == list(range(1, HAZARDS + 1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_hazard_has_a_test(row: tuple[str, ...]) -> None:
    """Also a documented limit: the test then shows how it is detected."""
    assert re.search(r"`test_\w+\.py::test_\w+`", row[3])


def test_every_named_test_exists() -> None:
    named = set(re.findall(r"`(test_\w+\.py)::(\w+)`", PAGE))
    assert len(named) > HAZARDS
    for file in {file for file, _ in named}:
        [path] = (REPOSITORY / "tests" / "python").rglob(file)
        tree = ast.parse(path.read_text())
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {name for other, name in named if other == file} <= functions, file


def test_every_named_fuzzer_runs_among_the_native_tests() -> None:
    run = set(re.findall(r"add_test\(NAME (\w+)", NATIVE.read_text()))
    named = set(re.findall(r"`(fuzz_\w+)`", PAGE))
    assert named and named <= run
