"""The figure of the whole field: who is in it, where, in which order, and who is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.shared.evaluation_data import unpack
from halo.base.schema.summary import TriedAnalysis
from halo.measure.findings import Findings
from halo.report import render_report
from halo.report.field import Entry, groups
from halo.report.field_chart import field_chart
from halo.report.results import Measurement, read_measurement
from support.command import REPOSITORY
from support.report_pages import checked
from support.samples.field import ANSWER, OVER, field_document, field_findings, trials
from support.samples.results import config, document, save


def read(folder: Path, raw: dict[str, Any]) -> Measurement:
    return read_measurement(save(raw, folder))


def of(folder: Path, findings: Findings | None = None) -> Measurement:
    return read(folder, field_document(findings or field_findings()))


def entries(measurement: Measurement) -> dict[str, Entry]:
    return {one.name: one for group in groups(measurement) for one in group.entries}


def raced(one: Entry) -> float:
    assert one.raced is not None
    return one.raced.value


def test_configurations_are_grouped_by_kind_the_furthest_and_fastest_first(tmp_path: Path) -> None:
    found = [(group.title, [it.name for it in group.entries]) for group in groups(of(tmp_path))]
    assert found == [
        ("Allocators", ["mimalloc", "glibc", "jemalloc"]),
        ("Settings of allocators", [OVER]),
        (f"Plans over {OVER}", ["fast", "second", "slow"]),
    ]


def test_two_lucky_rounds_are_not_above_those_who_went_on(tmp_path: Path) -> None:
    findings = field_findings()
    findings.race[f"slow over {OVER}"] = trials(0.2, (1.0, 1.0))
    found = groups(of(tmp_path, findings))[-1].entries
    assert raced(found[-1]) > raced(found[0])
    assert [it.name for it in found] == ["fast", "second", "slow"]


def test_ratios_are_of_rounds_that_both_had(tmp_path: Path) -> None:
    """The machine is slower in the rounds that only one of them had."""
    found = entries(of(tmp_path))
    assert raced(found["glibc"]) == 1.0
    assert raced(found["mimalloc"]) == pytest.approx(1.25)
    assert raced(found[OVER]) == pytest.approx(1.25 * 1.25)
    assert found["slow"].gain == pytest.approx(0.8)
    assert found["second"].gain == pytest.approx(1.2)
    assert raced(found["slow"]) == pytest.approx(0.8 * 1.25 * 1.25)


def test_rounds_that_chose_the_finalists_do_not_flatter_them(tmp_path: Path) -> None:
    findings = field_findings()
    label = f"fast over {OVER}"
    findings.race[label] = trials(0.1, (1.0, 1.0, 2.0, 2.0, 2.0))
    assert entries(of(tmp_path, findings))["fast"].gain == pytest.approx(1.5)


def test_the_answer_is_of_its_own_rounds_alone(tmp_path: Path) -> None:
    found = entries(of(tmp_path))
    answered = {name: it.answered for name, it in found.items() if it.answered is not None}
    assert set(answered) == {"glibc", "mimalloc", OVER, "fast"}
    assert answered["fast"].value == pytest.approx(2.0)
    assert raced(found["fast"]) == pytest.approx(1.5 * 1.25 * 1.25)
    assert found["fast"].raced is not None
    assert [it.memory for it in (answered["fast"], found["fast"].raced)] == [91e6, 90e6]


def test_few_rounds_of_the_answer_have_quartiles_and_no_interval(tmp_path: Path) -> None:
    """The interval of its test needs seven; it would be far too wide."""
    findings = field_findings()
    findings.reference = {
        "glibc": trials(2.0, ANSWER[:3]),
        "halo": trials(1.0, (1.0, 1.0, 1.0)),
    }
    measurement = of(tmp_path, findings)
    found = entries(measurement)["fast"].answered
    assert found is not None and 1.9 < found.low < found.high < 2.1
    assert "quartiles, as its test needs more rounds" in " ".join(field_chart(measurement).notes)


@pytest.mark.parametrize(
    ("name", "reach"),
    [
        ("glibc", "2 rounds"),
        ("jemalloc", "left after 2 rounds"),
        (OVER, "2 rounds, and 12 of the race"),
        ("fast", "the final: 7 rounds"),
        ("second", "left the final after 4 rounds"),
        ("slow", "left the race after 2 rounds"),
    ],
)
def test_how_far_each_got(tmp_path: Path, name: str, reach: str) -> None:
    assert entries(of(tmp_path))[name].reach == reach


def test_without_a_final_the_race_ends_with_the_screen(tmp_path: Path) -> None:
    findings = field_findings()
    findings.final = {}
    found = entries(of(tmp_path, findings))
    assert found["fast"].reach == "the race: 5 rounds"
    assert found["slow"].reach == "left the race after 2 rounds"


def test_the_kept_plan_is_the_one_to_use(tmp_path: Path) -> None:
    measurement = of(tmp_path)
    found = entries(measurement)
    assert [name for name, it in found.items() if it.kept] == ["fast"]
    assert [name for name, it in found.items() if it.used] == ["fast"]
    page = render_report([measurement])
    assert '<tr class="plan kept used">' in page
    assert page.count('class="plan kept') == 1


def test_a_kept_plan_that_the_answer_does_not_confirm_is_not_to_be_used(tmp_path: Path) -> None:
    findings = field_findings()
    findings.reference["halo"] = trials(1.9, ANSWER)
    found = entries(of(tmp_path, findings))
    assert [name for name, it in found.items() if it.kept] == ["fast"]
    assert [name for name, it in found.items() if it.used] == [OVER]


def test_without_a_plan_its_allocator_is_kept(tmp_path: Path) -> None:
    found = entries(of(tmp_path, field_findings(kept="none")))
    assert [name for name, it in found.items() if it.kept] == [OVER]
    assert found["fast"].answered is None, "the trials called halo are the allocator's"


def test_an_open_answer_advises_nothing(tmp_path: Path) -> None:
    findings = field_findings()
    findings.reference = {name: it[:3] for name, it in findings.reference.items()}
    found = entries(of(tmp_path, findings))
    assert not any(it.used for it in found.values())


def test_what_was_left_out_is_a_line_with_the_reason_and_no_warning(tmp_path: Path) -> None:
    measurement = of(tmp_path)
    assert "tcmalloc" not in entries(measurement)
    text = checked(render_report([measurement]))
    line = (
        "tcmalloc is left out: under it, prog does not do what it does under glibc (the exit status"
        " is 1 and not 0)."
    )
    assert line in measurement.summary.warnings
    assert text.count(line) == 1
    why = "jemalloc:huge-pages was not tried: this version of jemalloc does not know it."
    assert text.count(why) == 1


def test_a_deep_analysis_that_was_not_tried_is_a_line(tmp_path: Path) -> None:
    findings = field_findings()
    findings.analyses = [
        TriedAnalysis("search", False, "its groups save 0.3 %"),
        TriedAnalysis("conflict", True, "1% of the misses are conflicts", 1),
    ]
    lines = field_chart(of(tmp_path, findings)).left_out
    assert "search was not tried: its groups save 0.3 %." in lines
    assert not any("conflict" in line for line in lines)


def test_every_figure_is_also_text(tmp_path: Path) -> None:
    text = checked(render_report([of(tmp_path)]))
    assert "times as fast as today, with glibc" in text
    assert "◆ answer 2.00, 1.010 s ○ race 2.34 ◆ answer 91 ○ race 90" in text
    assert "1.50 times as fast as without it" in text
    assert "It has 7 rounds of its own, which chose nothing." in text


def test_the_line_of_a_plans_allocator_is_at_its_position(tmp_path: Path) -> None:
    """So the distance to it is what the plan gains, in the rounds of both."""
    chart = field_chart(of(tmp_path))
    setting = next(row for group in chart.groups for row in group.rows if row.name == OVER)
    assert setting.raced is not None
    assert [group.alone for group in chart.groups] == [None, None, setting.raced.value]
    assert chart.neutral < setting.raced.value


def test_an_answer_on_another_input_is_said_to_be(tmp_path: Path) -> None:
    raw = field_document(field_findings())
    assert "another input" not in " ".join(field_chart(read(tmp_path, raw)).notes)
    raw["commands"]["measured"] = ["./prog", "8"]
    assert "on another input (9)." in " ".join(field_chart(read(tmp_path, raw)).notes)


def test_a_whisker_far_beyond_all_values_does_not_squeeze_them(tmp_path: Path) -> None:
    findings = field_findings()
    wild = [trials(1.6, (factor,))[0] for factor in (0.2, 1, 1, 5, 1, 0.3, 9)]
    findings.reference["mimalloc"] = wild
    chart = field_chart(of(tmp_path, findings))
    row = next(row for group in chart.groups for row in group.rows if row.name == "mimalloc")
    assert row.answered is not None
    assert (row.answered.open_high, row.answered.high) == (True, 100.0)
    assert 10 < chart.neutral < 90


def test_results_without_a_race_or_settings_show_what_they_have(tmp_path: Path) -> None:
    """Those of earlier versions have no first rounds, and do not say what to use."""
    raw = document()
    for key in ("use", "untried", "clock", "over_native", "over_native_interval", "candidates"):
        raw["summary"].pop(key, None)
    raw["trials"] = {"reference": raw["trials"]["reference"]}
    found = entries(read(tmp_path, raw))
    assert set(found) == {"glibc", "jemalloc", "mimalloc", "tcmalloc", "halo"}
    assert all(it.raced is None and it.answered is not None for it in found.values())
    assert "○" not in checked(render_report([read(tmp_path, raw)]))


def test_the_plans_of_a_comparison_are_rows_once(tmp_path: Path) -> None:
    """Its trials have the kept plan under its own label, and again as halo."""
    raw = document(kept="one-pool plan")
    plan = config("one-pool plan")
    raw["configurations"] = {"one-pool plan": plan}
    raw["trials"]["reference"]["one-pool plan"] = raw["trials"]["reference"]["halo"]
    found = groups(read(tmp_path, raw))[-1]
    assert found.title == "Plans over jemalloc"
    assert [(it.name, it.kept) for it in found.entries] == [("one-pool plan", True)]


def test_the_published_results_have_a_figure(tmp_path: Path) -> None:
    for path in unpack(REPOSITORY / "evaluation" / "results.parquet", tmp_path):
        if "trials" in json.loads(path.read_text()):
            found = groups(read_measurement(path))
            assert {group.title.partition(" ")[0] for group in found} >= {"Allocators", "Plans"}
