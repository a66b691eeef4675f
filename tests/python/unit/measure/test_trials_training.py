"""Several recorded inputs: one profile of all; what is slower on another one is not kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import RecordingFailed
from halo.base.settings import read_settings
from halo.measure.findings import Findings
from halo.measure.inputs import training_inputs as training_module
from halo.measure.inputs.recordings import RecordedRun
from halo.measure.inputs.training_inputs import judge_on_others, record_inputs
from halo.measure.placement import Answer, conclude
from halo.measure.reporter import Reporter
from halo.measure.runs.job import Configuration, Job
from halo.measure.session import MeasurementOptions, Session
from halo.measure.stages import Rounds
from halo.record.parts import Limits
from halo.record.profile import INPUTS, Profile, read_profile
from support.samples.findings import NOISE, measured, times
from support.samples.inputs import Recorded, blue, red


class Named:
    """A target of which only the name matters."""

    name, path = "prog", Path("/no/prog")


TARGET: Any = Named()


def job(*arguments: str) -> Job:
    return Job(TARGET, arguments)


def session_of(findings: Findings, folder: Path) -> Session:
    return Session(read_settings(), MeasurementOptions(11, folder, {}), findings, Reporter("prog"))


def recorded(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *samples: tuple[Recorded, int]
) -> tuple[Session, Profile | None]:
    """The profile of these recordings, with their peaks of live bytes; 0: it cannot be recorded."""

    def recording_stage(
        session: Session, name: str, job: Job, inputs: Any, path: Path, compute: Any
    ) -> RecordedRun:
        sample, live = samples[int(job.arguments[0])]
        if not live:
            raise RecordingFailed("No engine can.")
        sample.save(path, *job.arguments, totals={"peak_live_bytes": live})
        return RecordedRun(live / 10, True, "valgrind")

    monkeypatch.setattr(training_module, "recording_stage", recording_stage)
    session = session_of(measured({"halo": times(1.0)}), folder)
    jobs = [job(str(number)) for number in range(len(samples))]
    session.findings.training = {"glibc": times(1.0)}
    session.timed, session.native_seconds = None, dict.fromkeys(jobs, 1.0)
    return session, record_inputs(session, jobs, Limits())


def sites(profile: Profile | None) -> set[int]:
    assert profile is not None
    stacks = (next(profile.stack(at)) for at in range(len(profile.contexts)))
    return {profile.frames[frame].offset for frame in stacks}


def test_the_profile_is_of_all_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of the recording is that of the first one."""
    session, profile = recorded(tmp_path, monkeypatch, (red(), 10), (blue(), 30), (red(), 30))
    assert sites(profile) == {16, 24, 48, 64, 72}
    assert profile is not None and read_profile(tmp_path / "train.profile") == profile
    assert len(INPUTS.of(profile) or ()) == 3
    assert session.findings.record is not None and session.findings.record.seconds == 1.0
    assert session.remarks == []


def test_an_input_without_accesses_is_left_out_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = Recorded()
    silent.called([16], accesses=0)
    session, profile = recorded(tmp_path, monkeypatch, (silent, 10), (blue(), 3))
    assert sites(profile) == {48, 64, 72}
    assert "train-1.profile accesses no heap objects" in session.remarks[0]
    assert read_profile(tmp_path / "train.profile") == profile


def test_an_input_that_cannot_be_recorded_is_left_out_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, profile = recorded(tmp_path, monkeypatch, (red(), 0), (blue(), 3))
    assert sites(profile) == {48, 64, 72}
    assert session.findings.record is not None and session.findings.record.seconds == 0.3
    assert session.remarks == [
        "Recorded input 1 could not be recorded, so it has no part in the plans."
    ]


def test_if_none_can_be_recorded_there_is_no_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, profile = recorded(tmp_path, monkeypatch, (red(), 0), (blue(), 0))
    assert profile is None and session.findings.record is None
    assert len(session.remarks) == 2
    assert not (tmp_path / "train.profile").exists()


def judged(
    findings: Findings,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    by_input: Mapping[str, Sequence[float]],
    next_by_input: Mapping[str, Sequence[float]] | None = None,
) -> list[str]:
    """Times of the plan by input, if those of no plan are steady; returns the inputs measured.

    `next_by_input` are those of other plans.
    """
    asked: list[str] = []
    first = findings.verdict and findings.verdict.kept

    def measure(
        session: Session, name: str, job: Job, configs: Sequence[Configuration], rounds: Rounds
    ) -> Any:
        asked.append(job.arguments[0])
        control, kept = (config.label for config in configs)
        tested = by_input if kept == first else (next_by_input or {})
        factors = tested[job.arguments[0]]
        return {control: times(1.0)[:7], kept: times(1.0, factors)[:7]}

    monkeypatch.setattr(training_module, "measure", measure)
    judge_on_others(session_of(findings, folder), [job(name) for name in by_input])
    return asked


FASTER, SLOWER = [0.9] * 7, [1.05] * 7
BETTER = {"a": FASTER, "b": FASTER}


def test_a_plan_that_is_slower_on_another_input_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = measured({"halo": times(0.9)}, "halo over glibc")
    asked = judged(findings, tmp_path, monkeypatch, {"a": FASTER, "b": SLOWER, "c": FASTER})
    assert asked == ["a", "b"], "the answer is known"
    assert findings.kept is not None and findings.kept.label == "none over glibc"
    shown = " ".join(capsys.readouterr().err.split())
    assert "it is not kept: on prog b it is slower than no plan (0.95" in shown
    found = conclude(findings)
    assert found.answer is Answer.NO_GAIN
    assert found.more == (
        "Placement matters, but 'halo over glibc' makes it faster on one input and slower on"
        " another."
    )


def final_of(findings: Findings, **factors: float) -> None:
    """Rounds of the final, of no plan and of the plans by name."""
    findings.final = {"none over glibc": times(1.0)}
    findings.final |= {f"{name} over glibc": times(each) for name, each in factors.items()}


def test_the_next_best_plan_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = measured({"fast": times(0.8), "good": times(0.9)}, "fast over glibc")
    final_of(findings, fast=0.8, fair=0.95, good=0.9, useless=1.0)
    asked = judged(findings, tmp_path, monkeypatch, {"a": SLOWER, "b": FASTER}, BETTER)
    assert asked == ["a", "a", "b"]
    assert findings.kept is not None and findings.kept.label == "good over glibc"
    assert findings.rejected == ""
    assert "fast over glibc was the fastest plan, but" in " ".join(capsys.readouterr().err.split())


def test_no_plan_is_kept_if_all_are_slower_or_in_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = measured({"fast": times(0.8), "good": times(0.9)}, "fast over glibc")
    final_of(findings, fast=0.8, good=0.9, doubtful=0.995)
    worse = {"a": FASTER, "b": SLOWER}
    assert judged(findings, tmp_path, monkeypatch, worse, worse) == ["a", "b", "a", "b"]
    assert findings.kept is not None and findings.kept.label == "none over glibc"
    assert findings.rejected == "fast over glibc"
    shown = " ".join(capsys.readouterr().err.split())
    assert "good over glibc was the fastest plan left, but it is not kept" in shown


@pytest.mark.parametrize("other", [FASTER, list(NOISE)], ids=["faster", "in doubt"])
def test_a_plan_that_is_not_slower_stays(
    other: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = measured({"halo": times(0.9)}, "halo over glibc")
    assert judged(findings, tmp_path, monkeypatch, {"a": FASTER, "b": other}) == ["a", "b"]
    assert findings.kept is not None and findings.kept.label == "halo over glibc"


def test_without_a_kept_plan_nothing_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert judged(measured({"halo": times(1.0)}), tmp_path, monkeypatch, {"a": FASTER}) == []
