"""Which engine records a program, and what is said if one cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from halo.base.errors import RecordingFailed
from halo.base.settings import read_settings
from halo.binary.process.foreground import Ending
from halo.measure.findings import Findings
from halo.measure.inputs import recordings as recordings_module
from halo.measure.inputs.recordings import RecordedRun, recording_stage, run_recording
from halo.measure.journal import Journal
from halo.measure.reporter import Reporter
from halo.measure.runs.failures import Overdue
from halo.measure.runs.job import Job, Output, digest
from halo.measure.session import MeasurementOptions, Session
from halo.record.parts import Limits
from halo.record.producer import EngineFailed
from support.samples.findings import MACHINE


class Named:
    """A target of which only the name matters."""

    name, path = "prog", Path("/no/prog")


TARGET: Any = Named()
JOB = Job(TARGET, ())
SLOWDOWNS = {"fast": 6, "slow": 30}


class Engine:
    """An engine that fails in some way, or under which the program ends in some way."""

    def __init__(self, name: str, does: Exception | Ending, takes: float = 2.5) -> None:
        self.name, self.slowdown, self.does = name, SLOWDOWNS[name], does
        self.takes = takes

    def suspicion(self, ending: Ending, folder: Path) -> str:
        return "counts on its fingers"


def recorded(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    engines: Sequence[Engine],
    missing: Mapping[str, str] | None = None,
) -> tuple[Session, list[str]]:
    """A session in which these engines work; and the engines that were tried, in order."""
    tried: list[str] = []

    def run(*given: Any, producer: Engine, enough: float | None) -> Any:
        place = given[5]
        place.mkdir()
        (place / "stdout").write_text("")
        (place / "stderr").write_text("it is late\n")
        tried.append(producer.name)
        if isinstance(producer.does, Exception):
            raise producer.does
        return SimpleNamespace(
            ending=producer.does,
            wall=min(producer.takes, enough or producer.takes),
            was_cut=enough is not None and producer.takes > enough,
        )

    monkeypatch.setattr(recordings_module, "usable_engines", lambda *_: (engines, missing or {}))
    monkeypatch.setattr(recordings_module, "run_recorder", run)
    empty = Output(0, 0, 0, digest(_empty(folder)), (), 0)
    monkeypatch.setattr(recordings_module, "_output_of", lambda *_: empty)
    findings = Findings("prog", {}, MACHINE)
    session = Session(
        read_settings(), MeasurementOptions(0, folder, {}), findings, Reporter("prog")
    )
    session.scratch = folder
    return session, tried


def _empty(folder: Path) -> Path:
    (folder / "empty").write_text("")
    return folder / "empty"


GOOD = Ending(0, 0)
UNABLE = EngineFailed("has too many threads", "prog", "use another engine")


def test_the_first_engine_that_can_records_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = [Engine("fast", UNABLE), Engine("slow", GOOD)]
    session, tried = recorded(tmp_path, monkeypatch, engines)
    sentence = "prog cannot be recorded with fast: it has too many threads."
    assert run_recording(session, JOB, Limits(), None) == RecordedRun(
        2.5, True, "slow", (sentence,)
    )
    assert tried == ["fast", "slow"] and session.remarks == [sentence]
    assert not (tmp_path / "record").exists()


@pytest.mark.parametrize(
    ("ending", "how"),
    [(Ending(0, 6), "died by signal 6"), (Ending(3, 0), "ended with status 3")],
)
def test_another_ending_is_a_failure_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: Ending, how: str
) -> None:
    session, _ = recorded(tmp_path, monkeypatch, [Engine("fast", ending)])
    with pytest.raises(RecordingFailed) as found:
        run_recording(session, JOB, Limits(), None)
    assert str(found.value) == (
        f"prog cannot be recorded with fast: it {how} instead of status 0 (it is late);"
        " it counts on its fingers."
    )


def test_after_a_time_limit_no_slower_engine_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = Overdue("prog", "5 s, the limit", "")
    session, tried = recorded(tmp_path, monkeypatch, [Engine("fast", late), Engine("slow", GOOD)])
    with pytest.raises(RecordingFailed, match="With the engine fast: prog did not end within 5 s"):
        run_recording(session, JOB, Limits(), None)
    assert tried == ["fast"]
    engines = [Engine("slow", late), Engine("fast", GOOD)]
    session, tried = recorded(tmp_path, monkeypatch, engines)
    assert run_recording(session, JOB, Limits(), None).engine == "fast"


@pytest.mark.parametrize("enough", [None, 2.0, 3.0])
def test_a_recording_that_is_ended_early_is_kept_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, enough: float | None
) -> None:
    """It has another output than the whole run, which is not a failure."""
    session, _ = recorded(tmp_path, monkeypatch, [Engine("fast", GOOD)])
    session.enough_recording = enough
    kept: list[Path] = []
    monkeypatch.setattr(recordings_module, "_keep", lambda *given: kept.append(given[-1]))
    path = tmp_path / "train.profile"
    if enough == 2.0:
        monkeypatch.setattr(recordings_module, "_output_of", lambda *_: pytest.fail("compared"))
    found = run_recording(session, JOB, Limits(), path)
    cut = enough == 2.0
    assert found == RecordedRun(2.0 if cut else 2.5, True, "fast")
    assert kept == [path]
    said = "The recording was ended after 2 s, so plans are made from the beginning of the run"
    assert [said in remark for remark in session.remarks] == [True] * cut
    assert all("--record 'ARGS'" in remark for remark in session.remarks)


def test_a_recording_that_is_ended_without_a_profile_is_a_failure_of_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, tried = recorded(
        tmp_path, monkeypatch, [Engine("fast", GOOD, 9.0), Engine("slow", GOOD, 9.0)]
    )
    session.enough_recording = 1.0
    with pytest.raises(RecordingFailed, match="with fast: it left no profile"):
        run_recording(session, JOB, Limits(), tmp_path / "train.profile")
    assert tried == ["fast", "slow"]


def test_an_engine_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = {"slow": "it is not installed"}
    session, _ = recorded(tmp_path, monkeypatch, [Engine("fast", UNABLE)], missing)
    with pytest.raises(RecordingFailed, match=r"too many threads\. The engine slow"):
        run_recording(session, JOB, Limits(), None)
    assert (
        "The engine slow, which may record it, does not work here: it is not"
        in (session.remarks[1])
    )


def test_a_continued_measurement_says_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine and the sentences are in the journal."""
    path, run = tmp_path / "train.profile", RecordedRun(1.0, True, "slow", ("It was late.",))
    path.write_text("profile")

    def found(compute: Any) -> tuple[RecordedRun, list[str]]:
        session, _ = recorded(tmp_path, monkeypatch, [])
        session.journal = Journal(tmp_path / "stages", {})
        monkeypatch.setattr(session, "recorder_inputs", lambda job, **more: more)
        return recording_stage(session, "record", JOB, {}, path, compute), session.remarks

    first = found(lambda: run)
    again = found(lambda: pytest.fail("it was recorded before"))
    assert first == again
    assert again == (RecordedRun(1.0, True, "slow", ["It was late."]), ["It was late."])
    assert json.loads((tmp_path / "stages" / "record.json").read_text())["result"]["engine"]
