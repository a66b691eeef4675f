"""What is printed of a measurement that a failure has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.base.settings import read_settings
from halo.binary.process.allocators import find_allocator
from halo.binary.process.target import find_target
from halo.cli.shared.ended import next_command, show_ended
from halo.measure.findings import Findings
from halo.measure.placement import Answer, conclude
from halo.measure.runs.job import Job
from support.samples.findings import MACHINE, NOISE, times

JOB = Job(
    find_target("true", read_settings().environment), ("big file",), stdin=Path("in"), timeout=9.0
)
BASELINE = "halo study eval baseline --stdin in --timeout 9 -- true 'big file'"


def ended(**factors: float) -> Findings:
    """After eleven rounds of the allocators on the training input."""
    findings = Findings("prog", {"reference": ["prog"]}, MACHINE)
    findings.training = {name: times(factor) for name, factor in factors.items()}
    return findings


def test_the_fastest_allocator_is_named_with_its_gain() -> None:
    found = conclude(ended(glibc=1.3, jemalloc=1.1, tcmalloc=1.0))
    assert found.answer is Answer.CANNOT_TELL
    assert found.sentence.endswith(
        "as the measurement ended early; of the allocators, tcmalloc is the fastest, 1.30 times as"
        " fast as glibc, after 11 rounds."
    )


def test_no_allocator_is_faster_than_glibc() -> None:
    found = conclude(ended(glibc=1.0, jemalloc=1.1))
    assert "glibc is the fastest, after" in found.sentence


def test_a_difference_within_the_noise_is_not_a_gain() -> None:
    findings = ended(glibc=1.01)
    findings.training = {**findings.training, "tcmalloc": times(1.0, NOISE)}
    found = conclude(findings)
    assert found.answer is Answer.CANNOT_TELL and "cannot be told what is fastest" in found.sentence
    assert next_command(findings, "halo", JOB) == BASELINE


def test_few_rounds_conclude_nothing() -> None:
    findings = ended(glibc=1.3, tcmalloc=1.0)
    findings.training = {name: trials[:3] for name, trials in findings.training.items()}
    assert "after 3 rounds, too few for a conclusion" in conclude(findings).sentence
    assert next_command(findings, "halo", JOB) == BASELINE


def test_the_next_command_uses_an_allocator_that_is_surely_faster() -> None:
    library = find_allocator("tcmalloc").library
    found = next_command(ended(glibc=1.3, tcmalloc=1.0), "halo", JOB)
    assert found == f"env LD_PRELOAD={library} true 'big file' <in"
    assert next_command(ended(glibc=1.0, tcmalloc=1.1), "halo", JOB) == BASELINE
    doubtful = ended(glibc=1.01)
    doubtful.training = {**doubtful.training, "tcmalloc": times(1.0, NOISE)}
    assert next_command(doubtful, "halo", JOB) == BASELINE


def test_without_trials_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    show_ended(ended(), "halo", JOB)
    assert capsys.readouterr().out == ""


def test_the_rounds_of_the_answer_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    findings = ended(glibc=1.3, tcmalloc=1.0)
    findings.reference = {"glibc": times(1.2)[:4], "tcmalloc": times(1.0)[:4]}
    show_ended(findings, "halo", JOB)
    shown = capsys.readouterr().out
    assert "seconds of the answer" in shown and "Next: env LD_PRELOAD=" in shown
    findings.reference = {}
    show_ended(findings, "halo", JOB)
    assert "seconds of the first rounds" in capsys.readouterr().out
