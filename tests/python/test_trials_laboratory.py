"""One measured run: its figures, its output compared, and its surroundings untouched."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from halo.errors import BadInput, TrialFailed
from halo.settings import read_settings
from halo.target import Target
from halo.trials.job import Contender, Job
from halo.trials.laboratory import Laboratory
from halo.trials.launcher import Launcher
from halo.trials.rounds import interleave

SHELL = Target(Path("/bin/sh"), "sh")


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[Laboratory]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with Launcher() as launcher:
        yield Laboratory(read_settings(), launcher, scratch, tmp_path / "evidence")


def shell(script: str, *compared: Path, stdin: Path | None = None) -> Job:
    return Job(SHELL, ("-c", script), stdin, compared)


def plain(label: str = "glibc", **environment: str) -> Contender:
    return Contender(label, {"PATH": os.environ["PATH"], **environment})


def test_a_sample_holds_time_and_memory(laboratory: Laboratory) -> None:
    sample = laboratory.measure(shell("sleep 0.2"), plain())
    assert 0.2 <= sample.wall < 2
    assert sample.user + sample.system < 0.2


def test_memory_is_the_programs_own_and_not_that_of_this_process(laboratory: Laboratory) -> None:
    """Linux counts the starting process's memory into the peak: the spawner keeps it small."""
    ballast = bytearray(100_000_000)
    sample = laboratory.measure(shell("true"), plain())
    assert sample.peak_memory < 20_000_000
    assert len(ballast) == 100_000_000


def test_equal_outputs_pass(laboratory: Laboratory) -> None:
    job = shell("echo same; exit 3")
    for _ in range(3):
        laboratory.measure(job, plain())
    output = laboratory.output(job)
    assert output is not None
    assert output.exit_status == 3


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("echo $WHO", "standard output"),
        ('test "$WHO" = a', "exit status 1 instead of 0"),
        ('test "$WHO" = a || kill -SEGV $$', "death by signal 11"),
    ],
)
def test_a_different_output_is_a_failure(
    laboratory: Laboratory, tmp_path: Path, script: str, what: str
) -> None:
    job = shell(script)
    laboratory.measure(job, plain(WHO="a"))
    with pytest.raises(TrialFailed, match=what):
        laboratory.measure(job, plain("halo", WHO="b"))
    assert (tmp_path / "evidence" / "first.stdout").exists()
    assert (tmp_path / "evidence" / "different.stdout").exists()


def test_a_crash_of_the_first_run_is_not_blamed_on_halo(laboratory: Laboratory) -> None:
    with pytest.raises(TrialFailed, match="before halo did anything"):
        laboratory.measure(shell("kill -SEGV $$"), plain())


def test_a_compared_file_must_be_equal(laboratory: Laboratory, tmp_path: Path) -> None:
    written = tmp_path / "written"
    job = shell(f"echo $WHO > {written}", written)
    laboratory.measure(job, plain(WHO="a"))
    laboratory.measure(job, plain(WHO="a"))
    with pytest.raises(TrialFailed, match="another content of"):
        laboratory.measure(job, plain(WHO="b"))


def test_a_stale_compared_file_does_not_count(laboratory: Laboratory, tmp_path: Path) -> None:
    """A run that writes nothing must not pass because an older run did."""
    written = tmp_path / "written"
    written.write_text("from before")
    with pytest.raises(BadInput, match="did not write"):
        laboratory.measure(shell("true", written), plain())


def test_standard_input_comes_from_the_file(laboratory: Laboratory, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_text("hello\n")
    job = shell("read word; test $word = hello", stdin=given)
    laboratory.measure(job, plain())
    output = laboratory.output(job)
    assert output is not None
    assert output.exit_status == 0


def test_the_runtimes_report_is_read_and_its_time_taken_off(laboratory: Laboratory) -> None:
    """The report is found by the process id that the runtime puts in place of %p."""
    report = '{"active": true, "huge_bytes": 5, "report_seconds": 0.3}'
    script = f"sleep 0.3; echo '{report}' > \"${{HALO_STATS%\\%p}}$$\""
    sample = laboratory.measure(shell(script), Contender("halo", dict(os.environ), reports=True))
    assert sample.runtime["active"] is True
    assert sample.huge_bytes == 5
    assert sample.wall < 0.3


@pytest.mark.parametrize(("name", "number"), [("PIPE", 13), ("INT", 2), ("XFSZ", 25)])
def test_signals_are_at_their_defaults(laboratory: Laboratory, name: str, number: int) -> None:
    """Python ignores these; a program that inherited that would behave differently."""
    with pytest.raises(TrialFailed, match=f"died by signal {number} "):
        laboratory.measure(shell(f"kill -{name} $$; true"), plain())


def test_rounds_are_interleaved_and_the_first_is_dropped(laboratory: Laboratory) -> None:
    steps: list[tuple[int, str]] = []
    contenders = [plain("glibc"), plain("other"), plain("third")]
    found = interleave(
        laboratory,
        shell("true"),
        contenders,
        4,
        lambda step: steps.append((step.round, step.label)),
    )
    assert {label: len(samples) for label, samples in found.items()} == dict.fromkeys(
        ("glibc", "other", "third"), 4
    )
    assert [number for number, _ in steps] == [n for n in range(5) for _ in range(3)]
    assert steps[0] == (0, "glibc"), "the reference output is glibc's"
    for number in range(5):
        assert {label for n, label in steps if n == number} == {"glibc", "other", "third"}
    assert len({tuple(label for n, label in steps if n == number) for number in range(5)}) > 1
