"""Figures of `halo study hints`: the importance of fields, and the accuracy of forests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.report.figures.base import FigureOptions
from halo.report.figures.registry import find_figure
from support.samples.hints import feature, hints_result, learnt
from support.svg import words


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    node = learnt(
        "Node",
        feature("visits", "primary", 0.2, 0.25),
        feature("x", "primary", 0.7, 1.0),
        *(feature(f"rare{at}", "primary", 0.01, 1.0) for at in range(9)),
        feature("noise", "noise", 0.005, 0.0),
    )
    return hints_result(tmp_path / "mesh.json", learnt("Buffer"), node)


def make(name: str, path: Path, ending: str) -> bytes:
    return find_figure(name).make([path], FigureOptions(), ending)


def test_fields_are_ranked_and_noise_is_always_shown(mesh: Path) -> None:
    records = json.loads(make("importance", mesh, "json"))
    names = [one["feature"] for one in records]
    assert names[:2] == ["x", "visits"]
    assert names[-1] == "noise" and len(names) == 9
    assert (
        "| mesh | Node | visits | 0.200 | 0.100 | 25% |" in make("importance", mesh, "md").decode()
    )


def test_the_drawing_names_types_fields_and_accuracies(mesh: Path) -> None:
    drawn = words(make("importance", mesh, "svg"))
    for word in ("mesh: Node", "75% predicted", "96% among", "visits", "not known at birth"):
        assert word in drawn
    assert "Buffer" not in drawn


def test_forests_show_each_size(mesh: Path) -> None:
    table = make("forests", mesh, "md").decode()
    assert "| mesh | Node | 100 | 0.500 | 0.900 |" in table
    assert "| mesh | Node | 200 | 0.750 | 0.960 |" in table
    assert "mesh: Node" in words(make("forests", mesh, "svg"))


@pytest.mark.parametrize("name", ["importance", "forests"])
def test_results_without_a_forest_are_refused(name: str, tmp_path: Path) -> None:
    empty = hints_result(tmp_path / "empty.json", learnt("Buffer"))
    with pytest.raises(BadInput, match="no type from which anything was learnt"):
        make(name, empty, "svg")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(BadInput, match="halo study hints"):
        make(name, tmp_path / "other.json", "svg")
