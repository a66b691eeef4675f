"""The comparison of programs that the recorder was not tuned for with native runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import untuned
from untuned_programs import Missing, Program, Work, find_executable

from halo.base.settings import read_settings

RESULT = untuned.Result(0, b"backend> ", b"", {"a": "1"})


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (RESULT, ""),
        (untuned.Result(-11, b"backend> ", b"", {"a": "1"}), "status"),
        (untuned.Result(0, b"backend> backend> ", b"", {"a": "1"}), "output"),
        (untuned.Result(1, b"backend> ", b"bad", {"a": "1"}), "status, errors"),
        (untuned.Result(0, b"backend> ", b"", {"a": "1", "b": "2"}), "files"),
    ],
)
def test_every_part_of_a_result_is_compared(other: untuned.Result, words: str) -> None:
    assert RESULT.difference(other) == words


def test_only_whole_lines_of_halo_are_left_out() -> None:
    errors = b"halo: warning\nnot halo: a line\nthe last"
    assert untuned.without_halo(errors) == b"not halo: a line\nthe last"


def test_ratios_are_of_the_runs_of_one_round() -> None:
    native = [untuned.Seconds(1, 1), untuned.Seconds(2, 1), untuned.Seconds(4, 1)]
    recorded = [untuned.Seconds(10, 5), untuned.Seconds(40, 6), untuned.Seconds(20, 7)]
    row = untuned.row("p", native, recorded)
    assert row == "| p | 2.00 | 20.00 | 10.0 (5.0–20.0) | 6.0 (5.0–7.0) |"


def program(command: str, status: int = 0) -> Program:
    @contextmanager
    def prepare(folder: Path) -> Iterator[Work]:
        yield Work(("sh", "-c", command), environment={"COUNT": f"{folder}/n"}, status=status)

    return Program("p", prepare)


def test_a_program_that_fails_alone_is_reported() -> None:
    problem = untuned.compare(read_settings(), program("echo no >&2; exit 3"), [], 1)
    assert problem == "alone it ends with status 3: no"


def test_a_run_with_other_output_is_reported() -> None:
    """Each run prints one more line than the last."""
    problem = untuned.compare(read_settings(), program("echo x >>$COUNT; cat $COUNT"), [], 1)
    assert problem.startswith(("native: other ", "recorded: other ")) and "output" in problem


def test_a_missing_program_names_its_package() -> None:
    with pytest.raises(Missing, match="install the package tools"):
        find_executable("halo-no-such-program", "tools")
