"""The page of `halo report`: true, whole, escaped, and without references to other files."""

from __future__ import annotations

import html
import shlex
from pathlib import Path
from typing import Any

import pytest

from halo.report import render_report
from halo.report.bars import BarRow, chart
from halo.report.misses import simulated
from halo.report.repeat_commands import commands
from halo.report.results import read_measurement, read_measurements
from halo.report.verdict import judge
from support.report_pages import checked, fives
from support.samples.results import config, document, save, simulation


def page_of(tmp_path: Path, *documents: dict[str, Any]) -> str:
    paths = [save(raw, tmp_path / str(index)) for index, raw in enumerate(documents)]
    return render_report(read_measurements(paths))


def evaluated() -> dict[str, Any]:
    raw = document(simulation=simulation({"jemalloc": 1.0, "halo": 0.25}))
    raw["configurations"] = {"one-pool plan": config("one-pool", "mimalloc")}
    raw["trials"]["reference"]["one-pool plan"] = raw["trials"]["reference"]["mimalloc"]
    return fives(raw)


def with_interval(raw: dict[str, Any], speedup: float, low: float, high: float) -> dict[str, Any]:
    raw["summary"].update(speedup=speedup, speedup_interval=[low, high])
    return fives(raw)


def concluding(raw: dict[str, Any], answer: str, sentence: str) -> dict[str, Any]:
    raw["summary"]["verdict"] = {"answer": answer, "sentence": sentence, "needed": None}
    return raw


@pytest.mark.parametrize(
    ("answer", "speedup", "low", "high", "kind"),
    [
        ("plan-helps", 1.5, 1.4, 1.6, "gain"),
        ("no-gain", 0.8, 0.7, 0.9, "loss"),
        ("no-gain", 1.0, 0.99, 1.01, "none"),
        ("not-sensitive", 1.0, 1.0, 1.0, "none"),
        ("cannot-be-told", 1.5, 1.4, 1.6, "unclear"),
        ("allocators-only", 1.5, 1.4, 1.6, "unclear"),
    ],
)
def test_the_page_says_what_the_measurement_says(
    tmp_path: Path, answer: str, speedup: float, low: float, high: float, kind: str
) -> None:
    raw = with_interval(document(), speedup, low, high)
    concluding(raw, answer, "prog is <b>this</b> and no more.")
    verdict = judge(read_measurement(save(raw, tmp_path / "r")))
    assert (verdict.kind, verdict.sentence) == (kind, "prog is <b>this</b> and no more.")
    assert "prog is <b>this</b> and no more." in checked(page_of(tmp_path, raw))


def older(raw: dict[str, Any]) -> dict[str, Any]:
    """As an earlier halo wrote it: without what it concluded."""
    del raw["summary"]["verdict"]
    return raw


def test_older_results_without_a_plan_do_not_show_that_placement_is_nothing(tmp_path: Path) -> None:
    raw = older(fives(fives(document(kept="none"))))
    text = checked(page_of(tmp_path, raw))
    assert "Whether it is placement-sensitive is not in these results" in text
    assert judge(read_measurement(save(raw, tmp_path / "r"))).kind == "unclear"


@pytest.mark.parametrize(
    ("speedup", "low", "high", "kind"),
    [(1.5, 1.4, 1.6, "gain"), (0.8, 0.7, 0.9, "loss"), (1.0, 0.9, 1.1, "unclear")],
)
def test_older_results_with_a_plan_follow_the_interval(
    tmp_path: Path, speedup: float, low: float, high: float, kind: str
) -> None:
    raw = fives(older(with_interval(document(), speedup, low, high)))
    verdict = judge(read_measurement(save(raw, tmp_path / "r")))
    assert verdict.kind == kind
    assert f"(95 % interval {low:.2f} to {high:.2f})" in verdict.sentence
    few = older(with_interval(document(), speedup, low, high))
    assert judge(read_measurement(save(few, tmp_path / "few"))).kind == "unclear"


def test_only_allocators(tmp_path: Path) -> None:
    raw = older(document(times={"glibc": (1.0, 1.0), "jemalloc": (2.0, 2.0)}))
    raw["summary"].update(strategy=None, candidate=None, allocator=None)
    alone = judge(read_measurement(save(raw, tmp_path / "b")))
    assert alone.sentence == "Only allocators were measured under prog; the fastest is glibc."
    assert "only the allocators were measured" in checked(page_of(tmp_path, raw))


def test_without_a_plan_there_is_no_before_and_after(tmp_path: Path) -> None:
    """What is called halo there is an allocator's own runs, which are not shown either."""
    raw = counting(document(kept="none"), "page-faults")
    raw["simulation"] = simulation({"jemalloc": 1.0, "halo": 0.25})
    text = checked(page_of(tmp_path, raw))
    assert "No plan was kept, so there is no before and after." in text
    assert "Before:" not in text
    assert "2.000 s" in text and "1.000 s" not in text


def test_outputs_that_were_not_compared_are_not_said_to_be_the_same(tmp_path: Path) -> None:
    raw = document()
    raw["summary"].update(outputs_equal=None, outputs_compared=False)
    text = checked(page_of(tmp_path, raw))
    assert "the standard output of the trials was not compared: of prog" in text
    assert "and was the same" not in text


def test_figures_and_where_they_come_from(tmp_path: Path) -> None:
    raw = evaluated()
    raw["trials"]["reference"] = {
        label: trials[:3] for label, trials in raw["trials"]["reference"].items()
    }
    text = checked(page_of(tmp_path, raw))
    assert "jemalloc ◆ answer 1.50, 2.000 s" in text and "2.99 (2.85 to 3.15), 1.000 s" in text
    assert "Plans over mimalloc one-pool ◆ answer 1.20, 2.500 s" in text
    assert "Simulated on the training input: L1D 32 KiB, " in text
    assert "1.0 k → 250 (−75.0 %)" in text
    assert "walk at a.c:1" in text
    assert "times slower 10.0" in text
    assert "halo study eval compare --trials 3 -- ./prog 1 -- ./prog 9" in text


def test_misses_without_a_measurement(tmp_path: Path) -> None:
    assert "were neither simulated nor counted. halo study eval compare" in checked(
        page_of(tmp_path, document())
    )


def counting(raw: dict[str, Any], event: str) -> dict[str, Any]:
    for label, trials in raw["trials"]["reference"].items():
        for trial in trials:
            trial["counters"] = {event: 200 if label == "halo" else 100}
    return raw


def test_counted_misses(tmp_path: Path) -> None:
    text = checked(page_of(tmp_path, counting(document(), "dTLB-load-misses")))
    assert "Counted by the processor on the reference input." in text
    assert "100 → 200 (+100.0 %)" in text
    assert "Page faults" not in text


def test_page_faults_are_neither_misses_nor_counted_by_the_processor(tmp_path: Path) -> None:
    text = checked(page_of(tmp_path, counting(document(), "page-faults")))
    _, _, faults = text.partition("Page faults before and after")
    assert "Counted by the kernel on the reference input." in faults
    assert "100 → 200 (+100.0 %)" in faults
    assert "Counted by the processor" not in text
    assert "were neither simulated nor counted" in text, "of misses there is nothing"


def test_several_programs_have_one_chart(tmp_path: Path) -> None:
    two = (with_interval(document("one"), 1.5, 1.4, 1.6), fives(document("two")))
    page = page_of(tmp_path, *two)
    assert "times as fast as the fastest allocator; longer to the right" in checked(page)
    assert 'href="#program-2"' in page and 'id="program-2"' in page


def test_the_command_that_repeats_it_has_what_it_needs(tmp_path: Path) -> None:
    raw = document()
    raw["commands"]["options"] = ["--allow-status", "4", "--ignore-output"]
    text = checked(page_of(tmp_path, raw))
    assert "halo run --trials 3 --allow-status 4 --ignore-output -- ./prog 1 -- ./prog 9" in text


def test_the_command_that_repeats_it_has_the_inputs_by_their_part(tmp_path: Path) -> None:
    """The answer of a held-out input is repeated on that, and the choice on the measured one."""
    raw = document()
    raw["commands"] = {
        "reference": ["./prog", "last"],
        "train": ["./prog", "small"],
        "measured": ["./prog", "big"],
    }
    (_, line), *_ = commands(read_measurement(save(raw, tmp_path / "r")))
    words = shlex.split(line)
    assert words[words.index("--hold-out") + 1] == "last"
    assert words[-2:] == ["./prog", "big"]
    assert "small" in line and "last" not in line.split(" -- ", 1)[1]


def test_no_option_names_the_programs_own_allocator(tmp_path: Path) -> None:
    raw = document()
    assert "--allocator jemalloc -- " in commands(read_measurement(save(raw, tmp_path)))[-1][1]
    raw["summary"]["native"] = raw["summary"]["allocator"] = "libown.so"
    purpose, command = commands(read_measurement(save(raw, tmp_path)))[-1]
    assert purpose == "Run it under the kept plan"
    assert command == f"halo exec --plan {tmp_path}/halo.plan -- ./prog 9"


def test_names_are_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>&\"'"
    raw = evaluated()
    raw["summary"]["program"] = evil
    raw["summary"]["warnings"] = [evil]
    raw["commands"]["reference"] = ["./p", evil]
    raw["simulation"]["code"][0]["place"] = evil
    raw["machine"]["processor"] = evil
    page = page_of(tmp_path, raw)
    assert "<script" not in page.lower()
    assert checked(page).count(evil) >= 5
    assert html.escape("<script>alert(1)</script>") in page


def test_axes_hold_what_they_show() -> None:
    found = chart(
        "t", [BarRow("a", "", "gain", 1.9, 1.6, 2.2), BarRow("b", "", "loss", 0.8, 0.7, 0.9)], 1
    )
    assert [tick.text for tick in found.ticks] == ["0.5", "1", "1.5", "2", "2.5"]
    assert found.neutral == 25.0
    assert (found.bars[0].start, found.bars[0].end) == (25.0, 70.0)
    assert (found.bars[1].start, found.bars[1].end) == (15.0, 25.0)
    equal = chart("t", [BarRow("a", "", "none", 1, 1, 1)], 1)
    assert equal.bars[0].start == equal.bars[0].end == 0.0


def test_a_folder_without_its_recording_says_so(tmp_path: Path) -> None:
    text = checked(page_of(tmp_path, fives(document())))
    assert "cannot be shown" in text and "holds no train.profile" in text


def test_the_simulation_of_a_comparison_has_the_kept_plan_by_its_own_label(tmp_path: Path) -> None:
    raw = document(kept="halo plan", simulation=simulation({"jemalloc": 1.0, "halo plan": 0.25}))
    found = simulated(read_measurement(save(raw, tmp_path / "r")))
    assert found is not None
    assert next(row for row in found.rows if row.event == "L1D").after == "250"


def test_a_program_that_is_not_utf_8_has_a_page(tmp_path: Path) -> None:
    assert "caf?" in page_of(tmp_path, document("caf\udce9"))


def test_commands_with_other_keys_do_not_count_as_training_inputs(tmp_path: Path) -> None:
    raw = document()
    raw["commands"] |= {"train-2": ["./prog", "7"], "train-x": ["./prog", "8"]}
    (purpose, line), *_ = commands(read_measurement(save(raw, tmp_path / "r")))
    assert "--also 7" in line and "8" not in line.split(" -- ")[0], purpose
