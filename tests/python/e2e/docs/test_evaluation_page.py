"""docs/evaluation.md and the pages beside it show the figures that were kept there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.shared.evaluation_data import unpack
from halo.report.figures.base import FigureOptions
from halo.report.figures.registry import find_figure
from support.command import REPOSITORY

PAGES = REPOSITORY / "docs" / "evaluation"
DATA = REPOSITORY / "evaluation"
INCLUDED = {
    "aged.md": "aged-heaps.md",
    "answers.md": "../evaluation.md",
    "fragmentation.md": "halo-paper.md",
    "tidy-sweep.md": "tidy.md",
}


@pytest.mark.parametrize("table", INCLUDED)
def test_pages_have_the_tables_that_scripts_write(table: str) -> None:
    page = (PAGES / INCLUDED[table]).read_text().splitlines()
    rows = [row for row in (PAGES / table).read_text().splitlines() if row]
    assert len(rows) > 10
    assert [row for row in rows if row not in page] == []


def test_the_answers_are_those_of_the_results_that_were_kept(tmp_path: Path) -> None:
    kept = sorted(unpack(DATA / "answers.parquet", tmp_path))
    assert len(kept) > 20
    table = find_figure("answers").make(kept, FigureOptions(), "md").decode()
    assert (PAGES / "answers.md").read_text() == table


def test_the_pages_lead_to_every_page_beside_them() -> None:
    pages = [PAGES.with_suffix(".md"), *PAGES.glob("*.md")]
    linked = {link for page in pages for link in re.findall(r"([\w-]+\.md)[#)]", page.read_text())}
    assert {page.name for page in PAGES.glob("*.md")} <= linked | set(INCLUDED)
