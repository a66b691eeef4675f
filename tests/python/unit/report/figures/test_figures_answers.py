"""The figure of answers: what to use, over what runs today and over the best allocator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.report.figures.base import FigureOptions
from halo.report.figures.registry import find_figure
from support.samples.field import ANSWER, OVER, field_document, field_findings, trials
from support.samples.results import document, save
from support.svg import words

FIGURE = find_figure("answers")


def measured(tmp_path: Path) -> list[Path]:
    """One program that uses a plan, one that uses a setting, and one that stays as it is."""
    plan = field_findings()
    setting = field_findings()
    setting.program = "setting"
    setting.reference["halo"] = trials(3.0, ANSWER)
    same = field_findings()
    same.program = "same"
    same.reference = {
        "glibc": trials(1.0, ANSWER),
        OVER: trials(1.25, ANSWER),
        "halo": trials(1.5, ANSWER),
    }
    findings = (plan, setting, same)
    return [save(field_document(it), tmp_path / it.program) for it in findings]


def test_a_row_says_what_to_use_and_what_it_gains_over_both(tmp_path: Path) -> None:
    paths = measured(tmp_path)
    rows = {it["program"]: it for it in json.loads(FIGURE.make(paths, FigureOptions(), "json"))}
    plan, setting, same = (rows[path.name] for path in paths)
    assert (plan["use"], plan["allocator"]) == (f"fast over {OVER}", OVER)
    assert plan["over_today"] == pytest.approx(2.0)
    assert plan["over_best"] == pytest.approx(1.3)
    assert plan["over_best_low"] <= 1.3 <= plan["over_best_high"]
    assert (setting["use"], setting["allocator"]) == (OVER, OVER)
    assert setting["over_today"] > 1.0 == setting["over_best"]
    assert (same["use"], same["over_today"], same["over_best"]) == ("glibc", 1.0, 1.0)


def test_the_greatest_gain_over_the_best_allocator_comes_first(tmp_path: Path) -> None:
    paths = measured(tmp_path)
    table = FIGURE.make(paths[::-1], FigureOptions(), "md").decode()
    first, *_, last = table.splitlines()[2:]
    assert first.startswith(f"| {paths[0].name} | fast over {OVER} | 2.00 (")
    assert last.startswith("| same | glibc | 1 | 1 | glibc |")


def test_all_programs_are_drawn_with_the_means(tmp_path: Path) -> None:
    drawn = words(FIGURE.make(measured(tmp_path), FigureOptions(), "svg"))
    for word in (
        "prog: plan fast",
        f"setting: {OVER}",
        "same: as it is",
        "times as fast",
        "Geometric means: ",
    ):
        assert word in drawn


def test_results_without_a_word_on_what_to_use_are_refused(tmp_path: Path) -> None:
    old = document("old")
    old["summary"]["use"] = None
    with pytest.raises(BadInput, match="does not say what to use"):
        FIGURE.make([save(old, tmp_path)], FigureOptions(), "svg")
