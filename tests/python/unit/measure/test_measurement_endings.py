"""Measurements that end before their end: what is kept, and how to continue."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from halo.base.errors import (
    BadInput,
    HaloError,
    LitterFailed,
    RecordingFailed,
    TrialFailed,
    Unsuitable,
)
from halo.base.settings import read_settings
from halo.binary.process.target import find_target
from halo.cli import bench
from halo.cli.shared import evaluation, measurement
from halo.measure import bundled as bundled_module
from halo.measure import evaluation as comparison_module
from halo.measure.bundled import Bundled, Jobs
from halo.measure.evaluation import Comparison, compare
from halo.measure.findings import Findings
from halo.measure.folders import is_finished
from halo.measure.inputs.roles import only
from halo.measure.racing.gains import HALO
from halo.measure.reporter import Reporter
from halo.measure.runs.job import Job
from halo.measure.session import MeasurementOptions, Session
from support.samples.findings import GLIBC, JEMALLOC, MACHINE, measured, times

SETTINGS = read_settings()
JOB = Job(find_target("true", SETTINGS.environment), ())


def options(results: Path | None) -> argparse.Namespace:
    return argparse.Namespace(
        words=[],
        trials=0,
        cpu=None,
        litter=None,
        results=results,
        json=None,
        allow_status=[],
        ignore_output=False,
        timeout=None,
        prepare="",
        cleanup="",
        more_allocators=[],
    )


def ending_by(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """The measurement has five rounds on the reference input, and then that error."""

    def baseline(session: Session, job: Job) -> None:
        session.findings.reference = {"glibc": times(1.0)[:5]}
        raise error

    monkeypatch.setattr(measurement, "baseline", baseline)


@pytest.mark.parametrize("error", [LitterFailed("No heap."), OSError("gone"), KeyboardInterrupt()])
def test_a_measurement_that_an_error_ends_is_not_finished(
    error: BaseException,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ending_by(error, monkeypatch)
    with pytest.raises(type(error)):
        measurement.measure_program(
            SETTINGS, options(tmp_path), "prog", only(JOB), tmp_path, plans=False
        )
    failure = json.loads((tmp_path / "results.json").read_text())["summary"]["failure"]
    assert (str(error) or "was interrupted") in failure
    assert not is_finished(tmp_path)
    assert f"--results {tmp_path}\n" in capsys.readouterr().err


def test_one_of_several_continues_by_the_folder_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ending_by(KeyboardInterrupt("SIGINT"), monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        measurement.measure_program(
            SETTINGS, options(None), "jq", only(JOB), tmp_path / "jq", plans=False, resume=True
        )
    said = capsys.readouterr().err
    assert f"stages are in {tmp_path / 'jq'};" in " ".join(said.split())
    assert f"--results {tmp_path}\n" in said


def test_a_program_that_cannot_be_measured_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders: list[Path] = []

    def measure(*given: object, **more: object) -> tuple[Findings, Path]:
        _, _, name, _, results = given[:5]
        assert isinstance(results, Path)
        folders.append(results)
        if name == "a":
            raise RecordingFailed("It needs AVX-512.")
        return measured({}), results

    def find(_: object, name: str) -> Bundled:
        return Bundled(name, "", "true", (), (), env={"X": "1 2"})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measurement, "measure_program", measure)
    monkeypatch.setattr(measurement, "check_options", lambda *_, **__: None)
    monkeypatch.setattr(bundled_module, "find_bundled", find)
    monkeypatch.setattr(bundled_module, "prepare_all", lambda *_: Jobs(JOB, JOB, JOB))
    with pytest.raises(RecordingFailed, match=r"AVX-512"):
        bench.measure(SETTINGS, options(None), ["a", "b"])
    assert [folder.name for folder in folders] == ["a", "b"]
    assert folders[0].parent == folders[1].parent
    assert "Results of prog:" in capsys.readouterr().out


def test_all_sentences_are_told_with_the_status_of_the_first_error() -> None:
    failed = measured({})
    failed.failure = "An output differs."
    with pytest.raises(TrialFailed, match="An output differs"):
        measurement.check_failures([measured({}), failed])
    with pytest.raises(Unsuitable, match=r"An output differs\. Static\. No file\."):
        measurement.check_failures([failed], [Unsuitable("Static."), BadInput("No file.")])


def test_an_evaluation_goes_on_after_any_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def evaluate_one(_: object, __: object, subject: evaluation.Subject, ___: object) -> None:
        if subject.name == "a":
            raise Unsuitable("It is static.")

    monkeypatch.setattr(evaluation, "_evaluate_one", evaluate_one)
    subjects = [evaluation.Subject(name, JOB, JOB) for name in ("a", "b")]
    with pytest.raises(HaloError, match="static") as found:
        evaluation.evaluate(SETTINGS, options(tmp_path), subjects)
    assert isinstance(found.value, Unsuitable)
    assert capsys.readouterr().out.splitlines() == [
        "a: It is static.",
        f"b: {tmp_path / 'b' / 'results.json'}",
    ]


def test_an_evaluation_ends_without_the_allocator_that_fails_on_the_reference_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = {"glibc": times(1.3), "jemalloc": times(1.0)}
    found = {
        "allocators": training,
        "training": training,
        "reference": {"glibc": times(1.0)},
    }
    monkeypatch.setattr(comparison_module, "_samples", lambda *given: found[given[1]])
    monkeypatch.setattr(comparison_module, "record", lambda *_: None)
    monkeypatch.setattr(comparison_module, "_candidates", lambda *_: [])
    findings = Findings("prog", {"reference": ["prog"]}, MACHINE)
    session = Session(SETTINGS, MeasurementOptions(5, tmp_path, {}), findings, Reporter("prog"))
    session.allocators = [GLIBC, JEMALLOC]
    results = compare(session, Comparison(JOB, JOB, simulate=False, distances=(128,)))
    assert findings.kept is not None and findings.kept.allocator == JEMALLOC
    assert set(results.trials.reference) == {"glibc"}
    assert HALO not in findings.reference and results.distances is None
