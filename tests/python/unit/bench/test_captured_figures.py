"""The arithmetic of bench/captured*.py: what hints change, and cells that are alike."""

from __future__ import annotations

from pathlib import Path

import captured
import pytest
from captured import MEASURED, PLANNED, Measured, Planned, Step
from captured_cells import share_alike
from captured_verdicts import why_none

from halo.files.atomic import write_json

ALLOCATORS = ("glibc", "jemalloc", "mimalloc", "tcmalloc")


def measured(kept: str, without: str, **seconds: float) -> Measured:
    times = {name: [2.0] * 3 for name in ALLOCATORS} | {it: [at] * 3 for it, at in seconds.items()}
    return Measured(kept, without, {}, {} if kept == without else times)


def program(folder: Path, name: str, rules: int, found: Measured | None = None) -> None:
    cost = Step(1.0, 1)
    why = "" if rules else "No call site."
    write_json(Planned(cost, why, rules, cost, cost, 1), folder / name / PLANNED)
    if found is not None:
        write_json(found, folder / name / MEASURED)


def test_equal_selections_are_not_compared() -> None:
    found = measured("halo", "halo")
    assert found.offered is None
    assert found.over_best() is None


def test_a_ratio_is_over_the_selection_with_hints() -> None:
    found = measured("hints", "dense", hints=1.0, dense=1.5)
    assert found.offered is not None and found.offered.value == pytest.approx(1.5)
    over = found.over_best()
    assert over is not None and over.value == pytest.approx(2.0)


@pytest.mark.parametrize(("seconds", "met"), [(1.0, True), (1.6, False)])
def test_the_table_has_all_programs_and_judges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seconds: float, met: bool
) -> None:
    program(tmp_path, "plain", 0)
    program(tmp_path, "same", 1, measured("halo", "halo"))
    program(tmp_path, "other", 2, measured("hints", "dense", hints=seconds, dense=1.5))
    assert captured.table(tmp_path, ["plain", "same", "other"]) is met
    printed = capsys.readouterr().out
    assert "| same | 1 | halo | the same | 1 |" in printed
    assert "| other | 2 | dense | hints |" in printed
    assert "| plain | No call site. |" in printed


def test_nodes_are_alike_if_they_share_a_bucket_with_the_same_nodes() -> None:
    one = {(0.0, 1.0): 1, (1.0, 1.0): 1, (2.0, 1.0): 2, (3.0, 1.0): 3}
    moved = {(0.0, 1.0): 7, (1.0, 1.0): 7, (2.0, 1.0): 9, (3.0, 1.0): 9}
    assert share_alike(one, one) == 1
    assert share_alike(one, moved) == 0.5
    assert share_alike(one, {**one, (4.0, 1.0): 4}) == 0


def test_the_reason_is_found_among_the_messages_of_a_run() -> None:
    reason = "No call site with 1% of the accesses has a hint: several sizes (1 site)."
    said = reason.replace("several ", "several\n ")
    assert why_none(f"halo: xz: making plans (1 s in)\nhalo: xz: {said}\nMore.") == reason
    assert why_none("halo: xz: racing (1 s in)") == ""
