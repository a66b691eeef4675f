"""docs/evaluation.md and the pages beside it show the figures that were kept there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import REPOSITORY

PAGES = REPOSITORY / "docs" / "evaluation"
SUMMARIES = PAGES / "summaries.json"
INCLUDED = {
    "aged.md": "aged-heaps.md",
    "fragmentation.md": "halo-paper.md",
    "tidy-sweep.md": "tidy.md",
}


def speed_table(*arguments: str | Path) -> str:
    script = REPOSITORY / "bench" / "speed_table.py"
    return subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, check=True
    ).stdout


def test_the_pages_have_the_tables_of_the_summaries() -> None:
    lines = [line for line in speed_table(SUMMARIES).splitlines() if line]
    rows = len(json.loads(SUMMARIES.read_text())) + 2
    assert len(lines) == 2 * rows + 1
    times, recording = lines[: rows + 1], lines[rows + 1 :]
    for table, page in ((times, PAGES.with_suffix(".md")), (recording, PAGES / "recording.md")):
        shown = page.read_text().splitlines()
        assert [line for line in table if line not in shown] == []


@pytest.mark.parametrize("table", INCLUDED)
def test_pages_have_the_tables_that_scripts_write(table: str) -> None:
    page = (PAGES / INCLUDED[table]).read_text().splitlines()
    rows = [row for row in (PAGES / table).read_text().splitlines() if row]
    assert len(rows) > 10
    assert [row for row in rows if row not in page] == []


def test_the_pages_lead_to_every_page_beside_them() -> None:
    pages = [PAGES.with_suffix(".md"), *PAGES.glob("*.md")]
    linked = {link for page in pages for link in re.findall(r"([\w-]+\.md)[#)]", page.read_text())}
    assert {page.name for page in PAGES.glob("*.md")} <= linked | set(INCLUDED)


def test_programs_of_several_files_are_in_the_order_of_their_gain(tmp_path: Path) -> None:
    [first, second, *_] = json.loads(SUMMARIES.read_text())
    for name, content in (("a", [first]), ("b", second)):
        (tmp_path / name).write_text(json.dumps(content))
    files = (tmp_path / "b", tmp_path / "a")
    merged = json.loads(speed_table("--merge", *files))
    assert [it["program"] for it in merged] == [
        it["program"] for it in sorted((first, second), key=lambda it: -it["speedup"])
    ]
    mean = (first["speedup"] * second["speedup"]) ** 0.5
    assert f"Geometric mean of the speed-ups: {mean:.3f}." in speed_table(*files)
    halo, best = first["halo"], first["allocators"][first["best_baseline"]]
    assert first["speedup"] == pytest.approx(best["median"] / halo["median"])
