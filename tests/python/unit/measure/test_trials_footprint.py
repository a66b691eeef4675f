"""The warning about a plan that is chosen at one footprint and used at another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from halo.base.settings import read_settings
from halo.measure.inputs import unrecorded
from halo.measure.inputs.footprint import MAX_FACTOR, footprint_warning
from halo.measure.inputs.roles import Inputs
from halo.measure.reporter import Reporter
from halo.measure.results import summarize_findings
from halo.measure.runs.job import Job
from halo.measure.session import MeasurementOptions, Session
from support.samples.findings import complete

MB = 10**6


def test_a_much_larger_reference_is_said() -> None:
    assert footprint_warning(12 * MB, 310 * MB) == (
        "The plan is chosen at a peak memory of 12 MB and used at 310 MB: a larger measured input"
        " would show whether it helps there, too."
    )


def test_a_much_smaller_reference_is_said() -> None:
    found = footprint_warning(310 * MB, 9_400_000)
    assert "of 310 MB and used at 9.4 MB: a smaller measured input" in found


@pytest.mark.parametrize(
    ("training", "reference"), [(10, 10), (10, 10 * MAX_FACTOR), (10 * MAX_FACTOR, 10), (0, 99)]
)
def test_alike_or_unknown_footprints_are_not_mentioned(training: int, reference: int) -> None:
    assert footprint_warning(training * MB, reference * MB) == ""


def job(name: str) -> Job:
    return Job(None, (name,))  # type: ignore[arg-type]


SMALL, MIDDLE, LARGE = job("small"), job("middle"), job("large")
PEAKS = {SMALL: 10 * MB, MIDDLE: 30 * MB, LARGE: 100 * MB}


@pytest.mark.parametrize(
    ("inputs", "warned"),
    [
        (Inputs([SMALL], SMALL, LARGE), True),
        (Inputs([SMALL], MIDDLE, LARGE), False),
        (Inputs([MIDDLE], SMALL, LARGE), True),
        (Inputs([SMALL], LARGE, LARGE), False),
        (Inputs([SMALL, LARGE], SMALL, LARGE, [LARGE]), False),
    ],
    ids=["held out", "alike", "recording", "measured", "another input that decides"],
)
def test_the_input_that_was_measured_is_compared_with_the_one_that_was_held_out(
    inputs: Inputs,
    warned: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As plans are chosen on it; the terminal and the JSON have the same sentence."""

    def first_runs(_: Session, __: str, jobs: list[Job], *___: Any) -> list[int]:
        assert len(set(jobs)) == len(jobs), "no input is run twice"
        return [PEAKS[one] for one in jobs]

    timed: list[Job] = []
    monkeypatch.setattr(unrecorded, "_run_first", first_runs)
    monkeypatch.setattr(unrecorded, "time_allocators", lambda _, job, __: timed.append(job))
    findings = complete(1.0)
    session = Session(
        read_settings(), MeasurementOptions(11, tmp_path, {}), findings, Reporter("prog")
    )
    unrecorded.check_and_time(session, inputs)
    assert timed == [inputs.measured] and session.holds_out == inputs.holds_out
    findings.remarks = session.remarks
    shown = " ".join(capsys.readouterr().err.split())
    assert ("The plan is chosen at a peak memory of" in shown) == warned
    found = [it for it in summarize_findings(findings).warnings if "The plan is chosen" in it]
    assert len(found) == warned
    assert all(it in shown for it in found)
