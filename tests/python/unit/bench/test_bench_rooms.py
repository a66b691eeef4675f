"""The table of bench/README.md: every script is on a page, and imports its room and shared/."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from support.command import REPOSITORY

BENCH = REPOSITORY / "bench"
PAGE = (BENCH / "README.md").read_text()
TABLE = {
    name: page
    for row, page in re.findall(r"^\| (`\w+\..+`) \| \[.+\]\((.+)\) \|$", PAGE, re.MULTILINE)
    for name in re.findall(r"`([\w.]+)`", row)
}
MODULES = [path for path in BENCH.glob("*/*.py") if path.parent.name != "programs"]


def test_every_script_is_in_the_table_of_a_short_page() -> None:
    scripts = [path for path in MODULES if 'if __name__ == "__main__":' in path.read_text()]
    assert set(TABLE) == {f"{path.parent.name}.{path.stem}" for path in scripts}
    assert len(PAGE.splitlines()) <= 30


@pytest.mark.parametrize("name", sorted(it for it in TABLE if not it.startswith("shared.")))
def test_a_page_names_its_script(name: str) -> None:
    page = (BENCH / TABLE[name]).resolve().read_text()
    scripts = "".join(path.read_text() for path in (REPOSITORY / "scripts").glob("*.sh"))
    assert f"bench.{name}" in page or f"bench.{name}" in scripts


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_room_imports_itself_and_what_is_shared(path: Path) -> None:
    modules = [
        it.module or ""
        for it in ast.walk(ast.parse(path.read_text()))
        if isinstance(it, ast.ImportFrom)
    ]
    rooms = {it.split(".")[1] for it in modules if it.startswith("bench.")}
    assert rooms <= {"shared", path.parent.name}
