"""Misses by class under several layouts, as a figure and as a table."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.patches import Rectangle, StepPatch

from halo.base.errors import BadInput
from halo.report.figures.base import FigureOptions
from halo.report.figures.registry import find_figure
from halo.studies.conflicts.figures import sets
from halo.studies.conflicts.figures.classes import CLASSES, draw_panel
from halo.studies.layouts.results import read_layouts
from support.samples.simulations import layouts
from support.svg import words

BOTH = ("glibc", "after")


def make(paths: list[Path], ending: str, configs: tuple[str, ...] = BOTH) -> str:
    return find_figure("conflicts").make(paths, FigureOptions(configs=configs), ending).decode()


def test_misses_are_tabulated_in_thousands(tmp_path: Path) -> None:
    paths = [
        layouts(tmp_path / name, {"glibc": 4_000, "after": 500_000}) for name in ("one", "two")
    ]
    text = make(paths, "md")
    assert text.startswith("| Program | glibc | after |\n")
    assert "| two | 4 (4) | 500 (500) |\n" in text
    records = json.loads(make(paths, "json"))
    assert records[1] == {
        "program": "one",
        "layout": "after",
        "accesses": 1000,
        "conflict": 500_000,
        "capacity": 6,
        "compulsory": 4,
    }


def test_bars_are_divided_by_class(tmp_path: Path) -> None:
    (found,) = read_layouts([layouts(tmp_path / "one", {"glibc": 40, "after": 0})], BOTH)
    axes = matplotlib.figure.Figure().subplots()
    draw_panel(axes, found)
    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
    assert [round(bar.get_width(), 9) for bar in bars] == [4.0, 0.0, 0.6, 0.6, 0.4, 0.4]
    assert [round(bar.get_x(), 9) for bar in bars] == [0.0, 0.0, 4.0, 0.0, 4.6, 0.6]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["glibc", "after"]


def test_the_classes_are_named_and_look_different(tmp_path: Path) -> None:
    drawn = words(
        find_figure("conflicts").make(
            [layouts(tmp_path / "work", {"glibc": 40})], FigureOptions(), "svg"
        )
    )
    for word in ("work", "glibc", "conflict", "capacity", "compulsory", "512 sets x 2 ways"):
        assert word in drawn
    assert len({hatch for _, _, hatch in CLASSES}) == len(CLASSES), "also without colours"


def test_a_table_needs_the_same_layouts_of_all_programs(tmp_path: Path) -> None:
    paths = [layouts(tmp_path / "one", {"glibc": 1}), layouts(tmp_path / "two", {"after": 1})]
    with pytest.raises(BadInput, match="choose those that all have with --configurations"):
        make(paths, "md", ())


def test_hot_lines_are_drawn_by_slot(tmp_path: Path) -> None:
    (found,) = read_layouts([layouts(tmp_path / "one", {"glibc": 40, "after": 6})], BOTH)
    axes = matplotlib.figure.Figure().subplots()
    sets.draw_panel(axes, found)
    steps = [patch for patch in axes.patches if isinstance(patch, StepPatch)]
    assert [list(step.get_data()[0])[:2] for step in steps] == [[20, 0], [3, 0]]
    assert [step.get_fill() for step in steps] == [True, False]
    assert sets.held(found) == 16, "512 sets of 2 ways in 64 slots"
    (limit,) = axes.lines
    assert set(np.asarray(limit.get_ydata())) == {16}


def test_hot_lines_have_a_legend_and_have_to_be_there(tmp_path: Path) -> None:
    figure, folder = find_figure("sets"), layouts(tmp_path / "work", {"glibc": 40, "after": 6})
    drawn = words(figure.make([folder], FigureOptions(configs=BOTH), "svg"))
    for word in ("Hot lines by slot", "glibc", "after", "lines it holds", "a slot is a 64th"):
        assert word in drawn
    old = layouts(tmp_path / "old", {"glibc": 40}, glibc={"hot_lines": None})
    with pytest.raises(BadInput, match=r"old/glibc\.json has no hot lines; simulate"):
        figure.make([old], FigureOptions(), "svg")
    with pytest.raises(BadInput, match="have different layouts"):
        figure.make([folder, old], FigureOptions(), "svg")
