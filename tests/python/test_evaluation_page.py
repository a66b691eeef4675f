"""docs/evaluation.md shows the figures that were kept beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SUMMARIES = REPOSITORY / "docs" / "evaluation" / "summaries.json"


def speed_table(*arguments: str | Path) -> str:
    script = REPOSITORY / "bench" / "speed_table.py"
    return subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, check=True
    ).stdout


def test_the_page_has_the_tables_of_the_summaries() -> None:
    page = (REPOSITORY / "docs" / "evaluation.md").read_text().splitlines()
    lines = [line for line in speed_table(SUMMARIES).splitlines() if line]
    assert len(lines) == 2 * len(json.loads(SUMMARIES.read_text())) + 5
    assert [line for line in lines if line not in page] == []


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
