"""How long a recording is expected to take."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from halo.binary.alignment.survey import survey_module
from halo.measure.runs.recorder_time import (
    MUCH_CODE,
    code_bytes,
    planning_seconds,
    processors_are_shared,
    recording_seconds,
)
from support.command import compile_c

CALLS = "extern int work(int);\nint main(int n, char **v) { return work(n) == 0 && v; }\n"
FILLED = 600_000  # bytes
WORK = f'int work(int n) {{ return n; }}\nasm(".text\\n.fill {FILLED}, 1, 0x90");\n'


def test_the_code_of_own_libraries_counts_and_that_of_the_language_does_not(tmp_path: Path) -> None:
    small = compile_c("int main(void) { return 0; }\n", tmp_path / "small")
    assert 0 < code_bytes(small) < 64 << 10, "the C library is larger"
    library = compile_c(WORK, tmp_path / "libwork.so", "-shared", "-fPIC")
    large = compile_c(CALLS, tmp_path / "large", f"-Wl,{library},-rpath,{tmp_path}")
    assert MUCH_CODE < FILLED <= code_bytes(large) < FILLED + (128 << 10)
    assert recording_seconds(large, 1.0) > 2 * recording_seconds(small, 1.0)


def test_what_cannot_be_read_has_no_code(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    for path in (tmp_path / "text", tmp_path / "missing"):
        assert code_bytes(path) == 0
        assert recording_seconds(path, 2.0) > recording_seconds(path, 1.0) > 1.0


def test_waiting_takes_as_long_under_the_recorder(tmp_path: Path) -> None:
    path = compile_c("int main(void) { return 0; }\n", tmp_path / "small")
    assert recording_seconds(path, 0.1, 5.0) == recording_seconds(path, 0.1) + 5.0


def test_other_programs_make_the_recorder_slower_but_not_what_waits(tmp_path: Path) -> None:
    path = compile_c("int main(void) { return 0; }\n", tmp_path / "small")
    shared = recording_seconds(path, 2.0, is_shared=True)
    assert 1.1 < shared / recording_seconds(path, 2.0) < 2, (
        "two processes have a processor at least"
    )
    assert recording_seconds(path, 2.0, 5.0, is_shared=True) == shared + 5.0


@pytest.mark.parametrize(
    ("processors", "others", "is_shared"),
    [
        (2, 0.0, False),
        (2, 0.4, False),
        (2, 1.0, True),
        (1, 0.0, True),
        (8, 3.0, False),
        (8, 8.0, True),
    ],
)
def test_processors_are_shared_if_others_leave_less_than_two(
    monkeypatch: pytest.MonkeyPatch, processors: int, others: float, is_shared: bool
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)))
    assert processors_are_shared(others) == is_shared


def test_planning_takes_longer_with_more_contexts_and_with_new_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    large = compile_c(f"{WORK}int main(void) {{ return 0; }}\n", tmp_path / "large")
    new = planning_seconds(large, 0)
    assert planning_seconds(large, 50_000_000) > new + 5
    survey_module(large)
    assert new - planning_seconds(large, 0) > 0.1, "the survey of its code is stored"
    assert planning_seconds(tmp_path / "missing", 0) == 0
