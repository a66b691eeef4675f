"""libhalo-logging.so: a trace holds all that was logged, in whatever way its process ends."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from support.programs.tracing import (
    ALLOC,
    COMPLETE,
    EXEC,
    LOAD,
    LOST,
    NO_SPACE,
    SIGNAL,
    STORE,
    THREAD_END,
    Summary,
    program,
    run,
    summarise,
    traced,
)

EVENTS = 1000


def life(how: str, folder: Path) -> tuple[int, str, Summary]:
    return traced("life", how, trace=folder / "t")


@pytest.mark.parametrize("how", ["return", "_exit", "_Exit", "quick_exit", "default"])
def test_an_exit_leaves_all_events(how: str, tmp_path: Path) -> None:
    status, _, found = life(how, tmp_path)
    assert status == 3
    assert found.end == [COMPLETE, 0, found.all, 0]
    assert found.count(LOAD) == EVENTS


@pytest.mark.parametrize(
    ("how", "number"),
    [
        ("abort", signal.SIGABRT),
        ("segv", signal.SIGSEGV),
        ("ill", signal.SIGILL),
        ("term", signal.SIGTERM),
    ],
)
def test_a_fatal_signal_is_named_and_still_fatal(how: str, number: int, tmp_path: Path) -> None:
    status, _, found = life(how, tmp_path)
    assert status == -number
    assert found.end == [SIGNAL, number, found.all, 0]
    assert found.count(LOAD) == EVENTS


def test_a_handler_of_the_programs_wins(tmp_path: Path) -> None:
    status, _, found = life("handled", tmp_path)
    assert status == 40 + signal.SIGTERM
    assert found.end == [COMPLETE, 0, found.all, 0]
    assert found.count(LOAD) == EVENTS + 1


def test_a_killed_process_leaves_whole_frames_without_an_end(tmp_path: Path) -> None:
    status, _, found = life("kill", tmp_path)
    assert status == -signal.SIGKILL
    assert not found.complete and found.end is None
    assert found.count(LOAD) == EVENTS


@pytest.mark.parametrize("how", ["waiting", "waiting-exit"])
def test_threads_that_were_never_joined_lose_nothing(how: str, tmp_path: Path) -> None:
    status, _, found = life(how, tmp_path)
    assert (status, found.complete) == (3, True)
    assert (found.in_thread(0, LOAD), found.in_thread(1, LOAD)) == (EVENTS, EVENTS)


def test_a_thread_may_run_to_the_end(tmp_path: Path) -> None:
    status, _, found = life("running", tmp_path)
    assert (status, found.complete) == (3, True)
    assert found.count(LOST) == 0
    assert found.in_thread(1, STORE) > 0


def test_a_process_ends_with_the_last_thread_that_is_its_own(tmp_path: Path) -> None:
    status, _, found = life("pthread_exit", tmp_path)
    assert (status, found.complete) == (0, True)
    assert found.count(LOAD) == EVENTS


def test_a_process_whose_trace_ended_early_ends_with_its_last_thread(tmp_path: Path) -> None:
    """Not with the library's own, of which one packs blocks for the file."""
    trace = f"file:{tmp_path}/t"
    done = run(program("life"), "pthread_exit-full", trace=trace, largest_file=100_000)
    found = summarise((tmp_path / "t").read_bytes())
    assert (done.returncode, found.complete, found.end and found.end[0]) == (0, True, NO_SPACE)


def test_what_stdio_holds_is_written_when_the_last_thread_ends(tmp_path: Path) -> None:
    status, output, found = life("pthread_exit-late", tmp_path)
    assert (status, output, found.complete) == (0, "late\n", True)
    assert found.count(LOAD) == 2 * EVENTS
    assert found.maps  # of a process without its main thread


def test_descriptors_have_the_numbers_that_the_program_expects(tmp_path: Path) -> None:
    assert life("descriptors", tmp_path)[0] == 0


def test_a_program_may_close_all_descriptors(tmp_path: Path) -> None:
    status, _, found = life("close-all", tmp_path)
    assert status == 3
    assert found.end == [COMPLETE, 0, found.all, 0]
    assert found.count(LOAD) == 2 * EVENTS


def test_threads_that_end_use_few_numbers_and_log_in_their_destructors(tmp_path: Path) -> None:
    status, _, found = life("threads", tmp_path)
    assert (status, found.complete) == (0, True)
    assert found.count(THREAD_END) == 500
    assert found.end is not None and found.end[3] == 0
    # Each of libc's four rounds of destructors logs ten.
    assert found.count(LOAD) == EVENTS + 500 * (EVENTS + 40)


def test_a_child_has_a_trace_of_its_own(tmp_path: Path) -> None:
    status, output, found = life("fork", tmp_path)
    assert (status, found.count(LOAD)) == (3, EVENTS)
    child = summarise((tmp_path / f"t.{output.strip()}").read_bytes())
    assert child.end == [COMPLETE, 0, child.all, 0]
    assert child.count(LOAD) == 30
    assert child.about["pid"] == int(output)


def test_a_child_that_logs_nothing_leaves_nothing(tmp_path: Path) -> None:
    status, _, found = life("silent-fork", tmp_path)
    assert (status, found.complete) == (3, True)
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_children_of_a_process_whose_threads_log_have_whole_traces(tmp_path: Path) -> None:
    status, _, found = traced("forks", "100", trace=tmp_path / "t")
    assert (status, found.complete) == (7, True)
    children = [path for path in tmp_path.iterdir() if path.name != "t"]
    assert len(children) == 100
    for path in children:
        child = summarise(path.read_bytes())
        assert child.end == [COMPLETE, 0, child.all, 0]
        assert (child.count(LOAD), child.count(ALLOC)) == (50, 50)


def test_an_exec_ends_the_trace_and_the_next_program_has_its_own(tmp_path: Path) -> None:
    status, _, found = life("exec", tmp_path)
    assert status == 3
    assert found.end == [EXEC, 0, found.all, 0]
    (other,) = [path for path in tmp_path.iterdir() if path.name != "t"]
    assert summarise(other.read_bytes()).count(LOAD) == 20


@pytest.mark.parametrize("how", ["failing-exec", "vfork", "setuid"])
def test_tracing_goes_on_after(how: str, tmp_path: Path) -> None:
    status, _, found = life(how, tmp_path)
    assert status == 3
    assert found.end == [COMPLETE, 0, found.all, 0]
    assert found.count(LOAD) == 2 * EVENTS


@pytest.mark.parametrize("trace", ["", "file", "nonsense:x", "file:", "file:/nowhere/t", "pipe:99"])
def test_what_is_not_understood_traces_nothing(trace: str, tmp_path: Path) -> None:
    done = run(program("life"), "fork", trace=trace)
    assert (done.returncode, done.stderr) == (3, "")
    assert list(tmp_path.iterdir()) == []
