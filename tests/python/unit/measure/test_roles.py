"""The inputs of `halo run`: which is recorded, measured, held out, and what is refused."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from halo.base.errors import BadInput, UsageError
from halo.binary.process.target import Target
from halo.cli.run import RunCommand, _inputs
from halo.cli.shared.program import one_or_two_programs
from halo.measure.inputs.roles import Inputs, only
from halo.measure.runs.job import Job, repeat_options

PROG = Target(Path("/usr/bin/true"), "true")


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    RunCommand().add_arguments(parser)
    return parser.parse_args(words)


def inputs(
    *options: str, measured: Sequence[str] = ("big",), recorded: Sequence[str] | None = None
) -> Inputs:
    return _inputs(parsed(*options), PROG, measured, recorded)


def job(*arguments: str) -> Job:
    return Job(PROG, arguments)


@pytest.mark.parametrize(
    ("words", "arguments", "recorded"),
    [
        (["true"], [], None),
        (["true", "a", "b"], ["a", "b"], None),
        (["true", "a", "--", "true", "b"], ["b"], ["a"]),
        (["true", "--", "true"], [], []),
        (["true", "a", "--", "/usr/bin/true", "b"], ["b"], ["a"]),
        (["true", "--", "no-such-program-here", "b"], ["--", "no-such-program-here", "b"], None),
        (["true", "a", "--"], ["a", "--"], None),
        (["true", "--", "-v"], ["--", "-v"], None),
        (["true", "--", "-v", "--", "true", "--", "-w"], ["--", "-w"], ["--", "-v"]),
    ],
)
def test_two_dashes_without_a_program_are_an_argument(
    words: list[str], arguments: list[str], recorded: list[str] | None
) -> None:
    assert one_or_two_programs(words, "run") == ("true", arguments, recorded)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "The program is missing: give it after `--`, for instance: halo run -- PROG ARGS"),
        (["true", "a", "--", "false", "b"], "a plan fits one binary only"),
        (["true", "--", "true", "--", "true"], "stands more than once"),
        (["--", "true"], "A program is missing between the two"),
    ],
)
def test_two_programs_that_are_not_one_are_refused(words: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        one_or_two_programs(words, "run")


def test_one_input_is_recorded_and_measured_and_answered() -> None:
    found = inputs()
    assert found == Inputs([job("big")], job("big"), job("big"), [])
    assert found.all == only(job("big")).all
    assert found.all == [job("big")] and not found.holds_out
    assert found.commands() == {"reference": ["true", "big"], "train": ["true", "big"]}


@pytest.mark.parametrize(
    "found",
    [inputs(recorded=["small", "a b"]), inputs("--record", "small 'a b'")],
    ids=["two programs", "--record"],
)
def test_a_recorded_input_of_its_own(found: Inputs) -> None:
    assert found == Inputs([job("small", "a b")], job("big"), job("big"), [])
    assert found.all == [job("big"), job("small", "a b")], "the measured one runs first"
    assert not found.holds_out


@pytest.mark.parametrize("name", ["--also", "--train"])
def test_other_inputs_are_recorded_too(name: str) -> None:
    found = inputs(name, "x", name, "y z", "--record", "small")
    assert found.recorded == [job("small"), job("x"), job("y", "z")]
    assert found.others == [job("x"), job("y", "z")]
    assert (found.measured, found.answered) == (job("big"), job("big"))
    commands = found.commands()
    assert list(commands) == ["reference", "train", "train-2", "train-3"]
    assert commands["train-3"] == ["true", "y", "z"]


def test_an_input_that_is_held_out_is_only_answered_on() -> None:
    found = inputs("--hold-out", "last", "--record", "small")
    assert found == Inputs([job("small")], job("big"), job("last"), [])
    assert found.holds_out and found.all == [job("big"), job("small"), job("last")]
    assert found.commands() == {
        "reference": ["true", "last"],
        "train": ["true", "small"],
        "measured": ["true", "big"],
    }


def test_the_streams_of_the_recorded_run(tmp_path: Path) -> None:
    """The measured one's, unless it has its own; by both names of the option."""
    for name in ("large", "little"):
        (tmp_path / name).write_text(name)
    large, little = tmp_path / "large", tmp_path / "little"
    same = inputs("--stdin", str(large))
    assert same.measured.stdin == large and same.all == [same.measured]
    for option in ("--record-stdin", "--train-stdin"):
        found = inputs("--stdin", str(large), option, str(little), "--hold-out", "last")
        assert found.recorded == [replace(job("big"), stdin=little)]
        assert found.measured.stdin == found.answered.stdin == large
    with pytest.raises(BadInput, match="gone"):
        inputs("--record-stdin", str(tmp_path / "gone"))


def test_the_load_of_the_recorded_run(tmp_path: Path) -> None:
    for name in ("long", "short"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    long, short = str(tmp_path / "long"), str(tmp_path / "short")
    for option in ("--record-load", "--train-load"):
        found = inputs("--load", long, option, short)
        assert found.recorded[0].service is not None and found.measured.service is not None
        assert str(found.recorded[0].service.load) == short
        assert str(found.measured.service.load) == long
    with pytest.raises(UsageError, match="--record-load needs --load SCRIPT"):
        inputs("--record-load", short)


@pytest.mark.parametrize(
    ("options", "recorded", "why"),
    [
        (["--record", "a", "--record", "b"], None, "recorded run is given twice"),
        (["--record", "a"], ["b"], "recorded run is given twice"),
        (["--hold-out", "a", "--hold-out", "b"], None, "--hold-out is given twice"),
        (["--hold-out", "big"], None, "The input of --hold-out is one that decides"),
        (["--hold-out", "a", "--also", "a"], None, "The input of --hold-out is one that decides"),
        (["--hold-out", "a", "--record", "a"], None, "is one that decides"),
        (["--also", "big"], None, "is given twice, or is the recorded one"),
        (["--also", "a", "--also", "a"], None, "is given twice, or is the recorded one"),
        (["--also", "a", "--record", "a"], None, "is given twice, or is the recorded one"),
        (["--also", "a", "--candidates", "search-2"], None, "search plans from the trace of one"),
        (["--also", "a", "--candidates", "halo,confine"], None, "confine plans from the trace"),
    ],
)
def test_inputs_that_cannot_be_are_refused(
    options: list[str], recorded: list[str] | None, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        inputs(*options, recorded=recorded)


def test_arguments_in_one_word_are_read_as_a_shell_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert inputs("--record", "a 'b c' \"d\"").recorded == [job("a", "b c", "d")]
    assert inputs("--record", "").recorded == [job()]
    with pytest.raises(SystemExit):
        parsed("--also", "'a")
    assert "is not a list of arguments (no closing quotation)" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["effort", "objective"])
def test_an_unknown_effort_or_objective_is_refused_with_the_list(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (parsed().effort, parsed().objective) == ("normal", "time")
    with pytest.raises(SystemExit):
        parsed(f"--{option}", "most")
    said = capsys.readouterr().err
    known = {"effort": ("quick", "normal", "thorough"), "objective": ("time", "memory")}
    assert "'most'" in said and all(name in said for name in known[option])


def test_the_commands_around_a_run_belong_to_every_job() -> None:
    """And are in the options that repeat the measurement."""
    found = inputs("--prepare", "cp a b", "--cleanup", "rm b", "--record", "s", "--hold-out", "h")
    for one in found.all:
        assert (one.prepare, one.cleanup) == ("cp a b", "rm b")
    assert repeat_options(found.measured) == ["--prepare", "cp a b", "--cleanup", "rm b"]
