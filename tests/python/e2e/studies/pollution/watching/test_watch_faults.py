"""What programs may do, and what may happen to them, while all their pages are armed."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from halo.plan.model import Spans
from support.planned import compile_program
from support.polluter import POLLUTER
from support.spans import plan_of_large, record_large
from support.watched import Armed, Watched, finish_watched, run_watched, start_watched

pytestmark = pytest.mark.usefixtures("traps")


def stressed(armed: Armed, *arguments: str) -> Watched:
    command = [str(armed.program), *arguments]
    return run_watched(command, armed.plan, HALO_WATCH_STRESS="1")


@pytest.mark.parametrize("what", ["nothing", "advise", "protect", "move", "lock"])
def test_memory_keeps_its_content(armed: Armed, what: str) -> None:
    """madvise, mprotect, mremap, mlock and mlockall on armed pages."""
    run = stressed(armed, what)
    assert (run.status, run.stdout) == (0, "intact\n")
    assert (run.report["refusal"], run.report["announced"] >= 8) == ("", True)


def test_pages_that_the_kernel_moves(armed: Armed) -> None:
    """Compaction gives pages other frames, armed ones, too."""
    compaction = Path("/proc/sys/vm/compact_memory")
    if not os.access(compaction, os.W_OK):
        pytest.skip("memory cannot be compacted by hand")
    ends = threading.Event()

    def compact() -> None:
        while not ends.wait(0.02):
            compaction.write_text("1")

    thread = threading.Thread(target=compact)
    thread.start()
    try:
        runs = [stressed(armed, "advise") for _ in range(3)]
    finally:
        ends.set()
        thread.join()
    assert [(run.status, run.stdout) for run in runs] == [(0, "intact\n")] * 3


def test_the_child_of_a_parent_that_ends_at_once(armed: Armed) -> None:
    """daemon() ends the parent, and its watch, as soon as there is a child."""
    for _ in range(20):
        run = stressed(armed, "daemon")
        assert (run.status, run.stdout) == (0, "intact\n")


def test_a_filter_that_kills_the_thread_of_the_watch(armed: Armed) -> None:
    """The filter is for all threads; the watch ends before it is set."""
    run = stressed(armed, "filter")
    assert (run.status, run.stdout) == (0, "intact\n")
    assert run.report["announced"] >= 8


@pytest.mark.parametrize("when", ["early-sandbox", "late-sandbox"])
@pytest.mark.parametrize("stress", ["", "1"])
def test_a_filter_that_kills_at_the_calls_of_the_watch(
    armed: Armed, when: str, stress: str
) -> None:
    """The program sets it by prctl, before its first large object or later."""
    none = {"HALO_STATS": "", "HALO_WATCH_REPORT": "", "HALO_WATCH_STRESS": stress}
    run = run_watched([str(armed.program), when], armed.plan, **none)
    assert (run.status, run.stdout) == (0, "sandbox\nintact\n")


def test_a_thread_of_the_watch_that_dies(armed: Armed) -> None:
    """By a filter that it does not see, while nothing is armed. A free waits for it once."""
    run = run_watched([str(armed.program), "direct-filter"], armed.plan)
    assert (run.status, run.stdout) == (0, "intact\n")
    assert run.report["refusal"] == "the thread of the watch does not answer"


def test_a_namespace_that_needs_a_single_thread(armed: Armed) -> None:
    plain = subprocess.run([str(armed.program), "namespace"], capture_output=True, text=True)
    if plain.returncode != 0:
        pytest.skip(f"user namespaces are refused: {plain.stderr.strip()}")
    run = stressed(armed, "namespace")
    assert (run.status, run.stdout) == (0, "intact\n")
    assert run.report["announced"] >= 8


def test_arguments_of_exec_may_be_armed(armed: Armed) -> None:
    run = stressed(armed, "exec")
    assert (run.status, run.stdout) == (0, "100000\n")


@pytest.mark.parametrize(
    ("how", "status"),
    [("exit", 0), ("_exit", 0), ("kill", -signal.SIGKILL), ("terminate", -signal.SIGTERM)],
)
def test_an_end_while_threads_access_armed_pages(armed: Armed, how: str, status: int) -> None:
    run = stressed(armed, "end", how)
    assert (run.status, run.stdout) == (status, "intact\n")
    assert ("refusal" in run.report) == (how == "exit")


def test_a_stop_while_pages_are_armed(armed: Armed) -> None:
    process = start_watched([str(armed.program), "stop"], armed.plan, HALO_WATCH_STRESS="1")
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    time.sleep(1.5)
    process.send_signal(signal.SIGCONT)
    run = finish_watched(process, armed.plan)
    assert (run.status, run.stdout) == (0, "intact\n")


def test_a_stop_in_a_window_is_not_time_of_the_program(tmp_path: Path) -> None:
    """A share of 5 % of five seconds is a window; the stop is longer, the run itself shorter."""
    program = str(compile_program(tmp_path, POLLUTER))
    plan = tmp_path / "a.plan"
    plan_of_large(record_large([program, "1"], tmp_path / "a.profile"), Spans(1 << 18), plan)
    process = start_watched([program, "150"], plan, HALO_WATCH_SHARE="0.05")
    time.sleep(0.1)
    process.send_signal(signal.SIGSTOP)
    time.sleep(5.5)
    process.send_signal(signal.SIGCONT)
    run = finish_watched(process, plan)
    assert run.status == 0
    assert (run.report["windows"], run.report["traps"]) == (0, 0)


def test_a_program_with_many_mappings(armed: Armed) -> None:
    with Path("/proc/sys/vm/max_map_count").open() as file:
        limit = int(file.read())
    if limit > 200_000:
        pytest.skip(f"vm.max_map_count is too large to be used up: {limit}")
    run = stressed(armed, "maps", "200")
    assert (run.status, run.stdout) == (0, "intact\n")


@pytest.fixture
def memory_group() -> Iterator[Path]:
    """A control group for memory that is removed afterwards."""
    roots = [Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")]
    root = next((one for one in roots if (one / "cgroup.procs").exists()), None)
    if root is None:
        pytest.skip("there is no control group for memory")
    group = root / f"halo-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error.strerror}")
    yield group
    group.rmdir()


def test_a_group_with_little_memory(armed: Armed, memory_group: Path) -> None:
    """The limit is less than another copy of all objects above what the program needs alone."""

    def join() -> None:
        (memory_group / "cgroup.procs").write_text(str(os.getpid()))

    names = ("memory.peak", "memory.max_usage_in_bytes")
    peak = next((memory_group / name for name in names if (memory_group / name).exists()), None)
    names = ("memory.max", "memory.limit_in_bytes")
    limit = next((memory_group / name for name in names if (memory_group / name).exists()), None)
    if peak is None or limit is None:
        pytest.skip("control groups have no peak and limit of memory")
    command = [str(armed.program), "advise"]
    plain = finish_watched(
        start_watched(command, armed.plan, before=join, HALO_WATCH=""), armed.plan
    )
    assert (plain.status, plain.stdout) == (0, "intact\n")
    limit.write_text(str(int(peak.read_text()) + (2 << 20)))
    process = start_watched(command, armed.plan, before=join, HALO_WATCH_STRESS="1")
    run = finish_watched(process, armed.plan)
    assert (run.status, run.stdout) == (0, "intact\n")
    assert run.report["announced"] >= 8
