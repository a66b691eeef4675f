"""A finished measurement is asked once: the same question has its answer, others are told apart."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import to_builtins

from halo.base.errors import BadInput
from halo.binary.process.allocators import GLIBC_ALONE
from halo.binary.process.target import Target
from halo.cli.main import build_parser
from halo.cli.shared.finished import findings_of, finished
from halo.measure.inputs.question import Question, differences, question_of, write_question
from halo.measure.job_inputs import JobInputs
from halo.measure.results import raw_results, summarize_findings
from halo.measure.runs.job import Job
from halo.measure.table import remedy
from halo.report.results import read_measurement
from support.samples.results import document, save

WORDS = ("run", "--trials", "7", "--cpu", "0", "--results", "a b", "--json=x")


@pytest.fixture
def job(tmp_path: Path) -> Job:
    shutil.copy("/usr/bin/true", tmp_path / "prog")
    for name in ("in", "out"):
        (tmp_path / name).write_text("one")
    named = (str(tmp_path / "in"), str(tmp_path / "out"))
    return Job(Target(tmp_path / "prog", "./prog"), named)


def asked(
    job: Job, words: tuple[str, ...] = WORDS, runtime: str = "x", inputs: JobInputs | None = None
) -> Question:
    found = inputs or JobInputs()
    parser = build_parser(words)
    options = parser.parse_args(words)
    options.words = words
    return question_of(
        vars(options), {"reference": job.command}, [job], found, {"runtime": runtime}
    )


def test_the_same_question_has_no_differences(job: Job) -> None:
    inputs, output = JobInputs(), Path(job.arguments[1])
    inputs.begin(job)
    output.write_text("what the program writes")
    then = asked(job, inputs=inputs)
    output.write_text("what it wrote once more")
    assert differences(then, asked(job)) == []
    plain = ("run", "--trials", "7", "--cpu", "0", "--json", "y")
    assert differences(then, asked(job, plain)) == []


@pytest.mark.parametrize(
    ("words", "others"),
    [
        (WORDS, ("run", "--cpu=0", "--trials=7")),
        (
            ("study", "heap", "age", "--occupancy", "0.5"),
            ("study", "heap", "age", "--occupancies=0.5"),
        ),
        (
            ("study", "heap", "age", "--plan", "{0}/a"),
            ("study", "heap", "age", "--plan", "{0}/link/a"),
        ),
        (("study", "heap", "age", "--plan", "{0}/a"), ("study", "heap", "age", "--plan", "a")),
        (("run", "--distance", "128"), ("run",)),
    ],
)
def test_another_spelling_is_the_same_question(
    job: Job,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    others: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(".")
    one, other = (tuple(word.format(tmp_path) for word in it) for it in (words, others))
    linked = replace(job, target=Target(tmp_path / "link" / "prog", "link/prog"))
    assert differences(asked(job, one), asked(linked, other)) == []


def test_a_link_of_another_name_may_be_another_program(job: Job, tmp_path: Path) -> None:
    """It may act by its name, or by the folder of the link."""
    (tmp_path / "unprog").symlink_to("prog")
    linked = replace(job, target=Target(tmp_path / "unprog", "./unprog"))
    assert differences(asked(job), asked(linked)) != []


def test_each_difference_is_named(job: Job, tmp_path: Path) -> None:
    then = asked(job)
    words = (*WORDS, "--cpu", "1")
    line = "run --trials 7 --cpu 0"
    (first,) = differences(then, asked(job, words))
    assert first == f"the command (it was: {line} -- ./prog {tmp_path}/in {tmp_path}/out)"
    (second,) = differences(then, asked(replace(job, arguments=(job.arguments[0], "more"))))
    assert second.startswith("the command (it was: ")
    assert differences(then, asked(job, runtime="y")) == ["the runtime"]
    Path(job.arguments[0]).write_text("two")
    assert differences(then, asked(job)) == [f"the input {tmp_path}/in"]
    shutil.copy("/usr/bin/false", job.target.path)
    assert set(differences(then, asked(job))) == {
        f"the program {tmp_path}/prog",
        f"the input {tmp_path}/in",
    }


def test_a_finished_measurement_answers_only_its_question(
    job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = save(document(), tmp_path / "r")
    assert finished(tmp_path, asked(job)) is None
    with pytest.raises(BadInput, match="differs in what it was asked"):
        finished(folder, asked(job))
    write_question(asked(job), folder / "stages")
    assert finished(folder, asked(job)) is not None
    assert f"this was measured before, in {folder}" in capsys.readouterr().err
    with pytest.raises(BadInput, match=r"it differs in the runtime; give another folder"):
        finished(folder, asked(job, runtime="y"))
    assert finished(folder, asked(job, runtime="y"), resume=True) is None
    (folder / "stages" / "question.json").write_text(json.dumps({"version": 2}))
    with pytest.raises(BadInput, match="differs in what it was asked"):
        finished(folder, asked(job))


@pytest.mark.parametrize("answer", ["cannot-be-told", "not-sensitive"])
def test_what_was_read_back_has_the_next_step_of_its_answer(tmp_path: Path, answer: str) -> None:
    """Answers in files are texts."""
    raw = document(kept="none")
    raw["summary"]["verdict"] = {"answer": answer, "sentence": "So.", "needed": "--trials 30"}
    findings = findings_of(read_measurement(save(raw, tmp_path / "r")), GLIBC_ALONE)
    step = remedy(findings, "halo", tmp_path / "r", lambda trials: f"again {trials}")
    assert (step == "again 30") == (answer == "cannot-be-told")


def test_what_was_read_back_is_what_was_saved(tmp_path: Path) -> None:
    raw = document()
    raw["summary"]["unrecorded"] = True
    found = findings_of(read_measurement(save(raw, tmp_path / "r")), GLIBC_ALONE)
    summary = summarize_findings(found)
    assert found.unrecorded and summary.unrecorded
    assert to_builtins(raw_results(found).trials) == to_builtins(
        read_measurement(tmp_path / "r").results.trials
    )
