"""One measured run: its figures, its output compared, and its surroundings untouched."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from halo.base.errors import BadInput, TrialFailed
from halo.base.settings import read_settings
from halo.binary.process.target import Target
from halo.measure.runs.failures import ProgramFailed
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.launcher import Launcher
from halo.measure.runs.rounds import interleave
from halo.measure.runs.trial_runner import TrialRunner

SHELL = Target(Path("/bin/sh"), "sh")


def shell(script: str, *compared: Path, stdin: Path | None = None) -> Job:
    return Job(SHELL, ("-c", script), stdin, compared)


def plain(label: str = "glibc", **environment: str) -> Configuration:
    return Configuration(label, {"PATH": os.environ["PATH"], **environment})


def test_a_sample_holds_time_and_memory(runner: TrialRunner) -> None:
    sample = runner.measure(shell("sleep 0.2"), plain())
    assert 0.2 <= sample.wall < 2
    assert sample.user + sample.system < 0.2


def test_waiting_is_told_from_having_no_processor(runner: TrialRunner) -> None:
    """Which is what makes processor time the right clock on a shared machine."""
    loop = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"
    busy = runner.measure(shell(loop), plain())
    idle = runner.measure(shell("sleep 0.2"), plain())
    assert busy.main_processor == pytest.approx(busy.user + busy.system, rel=0.1)
    assert busy.main_processor > 0.9 * (busy.wall - busy.delayed)
    assert idle.wall - idle.delayed - idle.main_processor > 0.15


def test_memory_is_the_programs_own_and_not_that_of_this_process(runner: TrialRunner) -> None:
    """Linux counts the starting process's memory into the peak: the spawner keeps it small."""
    ballast = bytearray(100_000_000)
    sample = runner.measure(shell("true"), plain())
    assert sample.peak_memory < 20_000_000
    assert len(ballast) == 100_000_000
    assert 0 < sample.minor_faults < 5000


def test_equal_outputs_pass(runner: TrialRunner) -> None:
    job = replace(shell("echo same; exit 3"), allowed=frozenset({3}))
    for _ in range(3):
        runner.measure(job, plain())
    output = runner.output(job)
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
    runner: TrialRunner, tmp_path: Path, script: str, what: str
) -> None:
    job = shell(script)
    runner.measure(job, plain(WHO="a"))
    with pytest.raises(TrialFailed, match=what):
        runner.measure(job, plain("halo", WHO="b"))
    assert (tmp_path / "evidence" / "first.stdout").exists()
    assert (tmp_path / "evidence" / "different.stdout").exists()


def test_a_status_that_is_not_allowed_ends_it_with_the_last_words(runner: TrialRunner) -> None:
    script = "for n in 1 2 3 4; do echo line $n >&2; done; exit 2"
    with pytest.raises(TrialFailed) as found:
        runner.measure(shell(script), plain())
    assert "ended with status 2 on its first run under glibc" in str(found.value)
    assert "line 2 / line 3 / line 4" in str(found.value)
    assert "line 1" not in str(found.value)
    assert "--allow-status 2" in str(found.value)
    sample = runner.measure(replace(shell(script), allowed=frozenset({0, 2})), plain())
    assert (sample.status, sample.stderr_bytes) == (2, 28)


def test_a_program_that_varies_under_glibc_is_not_blamed_on_anybody(
    runner: TrialRunner, tmp_path: Path
) -> None:
    """Its first two runs may agree: then a difference under another makes glibc run again."""
    count = tmp_path / "count"
    script = f"n=$(($(cat {count} 2>/dev/null) + 1)); echo $n >{count}; test $n -lt 3 || echo $n"
    job = shell(script)
    for _ in range(2):
        runner.measure(job, plain())
    with pytest.raises(TrialFailed) as found:
        runner.measure(job, plain("tcmalloc"))
    assert "differs from run to run under glibc itself" in str(found.value)
    assert "--ignore-output" in str(found.value)
    assert "tcmalloc" not in str(found.value)


def test_evidence_of_two_laboratories_lies_apart(tmp_path: Path) -> None:
    """Two probes that begin in the same second name the same folder, which neither has made."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with Launcher() as launcher:
            scratch, evidence = tmp_path / name, tmp_path / "evidence"
            found = TrialRunner(read_settings(), launcher, scratch, evidence, fresh=True)
            with pytest.raises(TrialFailed):
                found.measure(shell(f"echo {name}; exit 1"), plain())
    assert (tmp_path / "evidence" / "failed.stdout").read_text() == "one\n"
    assert (tmp_path / "evidence-2" / "failed.stdout").read_text() == "two\n"


def test_an_output_that_is_ignored_may_differ(runner: TrialRunner) -> None:
    job = replace(shell('echo $WHO; test "$WHO" != c'), ignore_output=True)
    runner.measure(job, plain(WHO="a"))
    runner.measure(job, plain("other", WHO="b"))
    with pytest.raises(TrialFailed, match="exit status 1 instead of 0"):
        runner.measure(job, plain("third", WHO="c"))


def test_a_standard_error_unlike_the_first_is_named(runner: TrialRunner) -> None:
    job = shell('test "$WHO" = a || echo oh dear >&2')
    runner.measure(job, plain(WHO="a"))
    runner.measure(job, plain("quiet", WHO="a"))
    runner.measure(job, plain("loud", WHO="b"))
    assert list(runner.remarks) == ["loud"]
    assert "oh dear" in runner.remarks["loud"]


def test_an_optional_configuration_that_cannot_run_it_is_left_out(runner: TrialRunner) -> None:
    job = shell('test "$WHO" = a || kill -SEGV $$')
    configs = [plain(WHO="a"), replace(plain("bad", WHO="b"), optional=True)]
    found = interleave(runner, job, configs, 3)
    assert {label: len(samples) for label, samples in found.items()} == {"glibc": 3}
    assert runner.left_out == {"bad": "death by signal 11 instead of exit status 0"}
    assert set(interleave(runner, job, configs, 1)) == {"glibc"}


def test_a_crash_of_the_first_run_is_not_blamed_on_halo(runner: TrialRunner) -> None:
    with pytest.raises(TrialFailed, match="before halo did anything"):
        runner.measure(shell("kill -SEGV $$"), plain())


def test_a_compared_file_must_be_equal(runner: TrialRunner, tmp_path: Path) -> None:
    written = tmp_path / "written"
    job = shell(f"echo $WHO > {written}", written)
    runner.measure(job, plain(WHO="a"))
    runner.measure(job, plain(WHO="a"))
    with pytest.raises(TrialFailed, match="another content of"):
        runner.measure(job, plain(WHO="b"))


def test_a_stale_compared_file_does_not_count(runner: TrialRunner, tmp_path: Path) -> None:
    """A run that writes nothing must not pass because an older run did."""
    written = tmp_path / "written"
    written.write_text("from before")
    with pytest.raises(BadInput, match="did not write"):
        runner.measure(shell("true", written), plain())


def test_standard_input_comes_from_the_file(runner: TrialRunner, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_text("hello\n")
    job = shell("read word; test $word = hello", stdin=given)
    runner.measure(job, plain())
    output = runner.output(job)
    assert output is not None
    assert output.exit_status == 0


def test_the_runtimes_report_is_read_and_its_time_taken_off(runner: TrialRunner) -> None:
    """The report is found by the process id that the runtime puts in place of %p."""
    report = '{"active": true, "huge_bytes": 5, "report_seconds": 0.3}'
    script = f"sleep 0.3; echo '{report}' > \"${{HALO_STATS%\\%p}}$$\""
    sample = runner.measure(shell(script), Configuration("halo", dict(os.environ), reports=True))
    assert sample.runtime["active"] is True
    assert sample.huge_bytes == 5
    assert sample.wall < 0.3


@pytest.mark.parametrize(("name", "number"), [("PIPE", 13), ("INT", 2), ("XFSZ", 25)])
def test_signals_are_at_their_defaults(runner: TrialRunner, name: str, number: int) -> None:
    """Python ignores these; a program that inherited that would behave differently."""
    with pytest.raises(TrialFailed, match=f"died by signal {number} "):
        runner.measure(shell(f"kill -{name} $$; true"), plain())


def test_rounds_are_interleaved_and_the_first_is_dropped(runner: TrialRunner) -> None:
    steps: list[tuple[int, str]] = []
    configs = [plain("glibc"), plain("other"), plain("third")]
    found = interleave(
        runner,
        shell("true"),
        configs,
        9,
        lambda step: steps.append((step.done, step.label)),
    )
    assert {label: len(samples) for label, samples in found.items()} == dict.fromkeys(
        ("glibc", "other", "third"), 9
    )
    assert [done for done, _ in steps] == list(range(30))
    assert steps[0] == (0, "glibc"), "the reference output is glibc's"
    rounds = [[label for _, label in steps[first : first + 3]] for first in range(0, 30, 3)]
    assert all(set(labels) == {"glibc", "other", "third"} for labels in rounds)
    assert len({tuple(labels) for labels in rounds}) > 1


def test_a_configuration_that_ends_otherwise_need_not_have_written_its_files(
    runner: TrialRunner, tmp_path: Path
) -> None:
    written = tmp_path / "written"
    job = shell(f'test "$WHO" = a && echo x > {written}', written)
    runner.measure(job, plain(WHO="a"))
    interleave(runner, job, [plain(WHO="a"), replace(plain("bad", WHO="b"), optional=True)], 1)
    assert runner.left_out == {"bad": "exit status 1 instead of 0"}


def test_a_hang_that_the_first_run_had_not_names_the_configuration(runner: TrialRunner) -> None:
    job = replace(shell("[ -z $HANGS ] || exec sleep 60"), timeout=0.5)
    runner.measure(job, plain())
    with pytest.raises(TrialFailed, match=r"under p\.plan did not end .* under glibc") as found:
        runner.measure(job, plain("p.plan", HANGS="1"))
    assert not isinstance(found.value, ProgramFailed)


def test_a_first_run_that_hangs_may_be_a_service(runner: TrialRunner) -> None:
    with pytest.raises(ProgramFailed, match="--load SCRIPT"):
        runner.measure(replace(shell("exec sleep 60"), timeout=0.5), plain())
