"""Figures of `halo study locality`: cumulative shares by program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.report.figures.base import FigureOptions
from halo.report.figures.registry import find_figure
from support.samples.locality import context, locality, locality_result
from support.svg import words


@pytest.fixture
def result(tmp_path: Path) -> Path:
    contexts = [
        context(1, 10, objects=30, rated=9, variance=0.02),
        context(1, 10, objects=50, rated=9, variance=0.2),
        context(1, 10, objects=20),
    ]
    return locality_result(tmp_path / "prog.json", locality(*contexts))


def make(name: str, path: Path, ending: str) -> str:
    return find_figure(name).make([path], FigureOptions(), ending).decode()


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("miss-rates", {"0.1": 0.75, "0.5": 0.75, "0.9": 0.75}),
        ("page-differences", {"0.01": 0.97, "0.05": 0.97, "0.1": 0.97, "0.5": 0.97}),
        ("context-sizes", {"1": 0, "10": 0, "100": 1, "1000": 1, "10000": 1}),
        ("variances", {"0": 0, "0.01": 0, "0.05": 0.5, "0.1": 0.5}),
    ],
)
def test_shares_are_cumulative(name: str, shares: dict[str, float], result: Path) -> None:
    (record,) = json.loads(make(name, result, "json"))
    assert record.pop("program") == "prog"
    assert record == pytest.approx(shares)
    assert make(name, result, "md").startswith("| Program | at most ")
    drawn = words(make(name, result, "svg").encode())
    assert "prog" in drawn
    assert "at most" in drawn


def test_programs_without_the_figure_are_named(tmp_path: Path, result: Path) -> None:
    empty = locality_result(
        tmp_path / "none.json", locality(differences=(0,) * 100, objects=(0,) * 10)
    )
    drawn = find_figure("page-differences").make([result, empty], FigureOptions(), "svg")
    assert "Without none: no pages of objects" in words(drawn)
    with pytest.raises(BadInput, match="None of the programs has pages"):
        make("page-differences", empty, "svg")


def test_results_of_different_caches_are_refused(tmp_path: Path, result: Path) -> None:
    other = locality_result(tmp_path / "other.json", locality(cache_lines=64))
    with pytest.raises(BadInput, match="different sizes; give results of one machine"):
        find_figure("miss-rates").make([result, other], FigureOptions(), "md")
