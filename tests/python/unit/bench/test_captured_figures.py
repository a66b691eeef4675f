"""The arithmetic of bench/captured*.py: what hints change, and cells that are alike."""

from __future__ import annotations

from pathlib import Path

import captured
import pytest
from captured import MEASURED, PLANNED, RACED, Planned, Raced, Step
from captured_cells import share_alike
from captured_verdicts import why_none

from halo.files.atomic import write_json

ALLOCATORS = ("glibc", "jemalloc", "mimalloc", "tcmalloc")


def raced(folder: Path, name: str, kept: str, without: str, **seconds: float) -> None:
    """A program with rules; `seconds` are of what is kept, on the reference input."""
    planned(folder, name, 1)
    write_json(Raced(kept, without, {}), folder / name / RACED)
    times = {it: [2.0] * 3 for it in ALLOCATORS} | {it: [at] * 3 for it, at in seconds.items()}
    if kept != without:
        write_json(times, folder / name / MEASURED)


def planned(folder: Path, name: str, rules: int) -> None:
    cost = Step(1.0, 1)
    why = "" if rules else "No call site."
    write_json(Planned(cost, why, rules, cost, cost, 1), folder / name / PLANNED)


@pytest.mark.parametrize(("seconds", "ratio", "met"), [(1.0, "1.500", True), (1.6, "0.938", False)])
def test_the_table_has_all_programs_and_judges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seconds: float, ratio: str, met: bool
) -> None:
    planned(tmp_path, "plain", 0)
    raced(tmp_path, "same", "halo", "halo")
    raced(tmp_path, "other", "hints", "dense", hints=seconds, dense=1.5)
    assert captured.table(tmp_path, ["plain", "same", "other"]) is met
    printed = capsys.readouterr().out
    assert "| same | 1 | halo | the same | 1 |" in printed
    assert f"| other | 1 | dense | hints | {ratio} (" in printed
    assert f"| {2 / seconds:.3f} (" in printed
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
