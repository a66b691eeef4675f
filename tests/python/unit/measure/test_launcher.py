"""The process that starts the measured ones: without pidfd, and lost."""

from __future__ import annotations

import marshal
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from halo.base.errors import HaloError
from halo.measure.runs import launcher as module
from halo.measure.runs.launcher import SPAWNER, Launcher, Run, Streams
from halo.record.producer import CommandLine

SHELL = Path("/bin/sh")


def streams_in(folder: Path) -> Streams:
    return Streams(Path(os.devnull), folder / "stdout", folder / "stderr")


def run(launcher: Launcher, script: str, folder: Path) -> Run:
    return launcher.run(SHELL, ("sh", "-c", script), dict(os.environ), streams_in(folder))


@pytest.fixture
def without_pidfd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The spawner as on a kernel before 5.3, or in a sandbox that forbids the call."""
    script = tmp_path / "spawner.py"
    script.write_text(
        "import posix, runpy\n"
        "def pidfd_open(child): raise OSError(38, 'Function not implemented')\n"
        "posix.pidfd_open = pidfd_open\n"
        f"runpy.run_path({str(module.SPAWNER)!r}, run_name='__main__')\n"
    )
    monkeypatch.setattr(module, "SPAWNER", script)


@pytest.mark.usefixtures("without_pidfd")
def test_a_run_without_pidfd_ends_as_others_do(tmp_path: Path) -> None:
    with Launcher() as launcher:
        assert run(launcher, "exit 3", tmp_path).ending.exit_status == 3
        assert 0.2 <= run(launcher, "sleep 0.2", tmp_path).wall < 2


@pytest.mark.usefixtures("without_pidfd")
def test_a_run_without_pidfd_is_stopped_at_its_limit(tmp_path: Path) -> None:
    start = time.monotonic()
    with Launcher() as launcher:
        arguments = ("sh", "-c", "echo $$; exec sleep 60")
        launcher.send(SHELL, arguments, dict(os.environ), streams_in(tmp_path))
        assert launcher.wait(0.3) is None
    assert time.monotonic() - start < 10
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "stdout").read_text()), 0)


def test_a_lost_spawner_is_an_error_of_halo(tmp_path: Path) -> None:
    """And no broken pipe, which would look like a reader that has gone."""
    with pytest.raises(HaloError, match="run halo again"), Launcher() as launcher:
        os.kill(launcher.pid, signal.SIGKILL)
        os.waitid(os.P_PID, launcher.pid, os.WEXITED | os.WNOWAIT)
        run(launcher, "true", tmp_path)


LOOP = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo $i; exit 3"
ENDLESS = "while :; do :; done"


def in_slices(
    launcher: Launcher, scripts: Sequence[str], folder: Path, limit: float = 60.0
) -> list[Run] | int:
    commands = []
    for at, script in enumerate(scripts):
        (folder / str(at)).mkdir(exist_ok=True)
        streams = streams_in(folder / str(at))
        commands.append((CommandLine(SHELL, ("sh", "-c", script), dict(os.environ)), streams))
    return launcher.run_in_slices(commands, [0.02] * len(commands), limit)


@pytest.mark.parametrize("has_pidfd", [True, False])
def test_runs_in_slices_end_in_their_own_ways(
    tmp_path: Path, has_pidfd: bool, request: pytest.FixtureRequest
) -> None:
    """The time of each is its own, whatever the others need."""
    if not has_pidfd:
        request.getfixturevalue("without_pidfd")
    with Launcher() as launcher:
        found = in_slices(launcher, [LOOP, "kill -9 $$", LOOP, "exit 0"], tmp_path)
        assert isinstance(found, list)
        endings = [(run.ending.exit_status, run.ending.signal) for run in found]
        assert [endings[0], endings[2], endings[3]] == [(3, 0), (3, 0), (0, 0)]
        assert endings[1][1] == 9
        for at in (0, 2):
            assert (tmp_path / str(at) / "stdout").read_text() == "300000\n"
            own = found[at].user + found[at].system
            assert own == pytest.approx(found[at].wall - found[at].delayed, rel=0.3)
        assert found[1].wall < found[0].wall / 2 and found[3].wall < found[0].wall / 2
        assert run(launcher, "exit 4", tmp_path).ending.exit_status == 4


def test_a_slice_ends_when_its_run_is_stopped(tmp_path: Path) -> None:
    """On a busy processor that is later than the signal, and until then the run is ready."""
    processor = min(os.sched_getaffinity(0))
    with Launcher(processor) as launcher:
        with subprocess.Popen(["taskset", "-c", str(processor), SHELL, "-c", ENDLESS]) as other:
            found = in_slices(launcher, [LOOP] * 3, tmp_path)
            other.kill()
        assert isinstance(found, list)
        for each in found:
            assert each.user + each.system == pytest.approx(each.wall - each.delayed, rel=0.08)


def test_all_runs_in_slices_are_stopped_if_one_exceeds_its_limit(tmp_path: Path) -> None:
    start = time.monotonic()
    with Launcher() as launcher:
        endless = f"echo $$; {ENDLESS}"
        assert in_slices(launcher, ["exit 0", endless, endless], tmp_path, 0.3) in (1, 2)
        for at in (1, 2):
            with pytest.raises(ProcessLookupError):
                os.kill(int((tmp_path / str(at) / "stdout").read_text()), 0)
        assert run(launcher, "exit 4", tmp_path).ending.exit_status == 4
    assert time.monotonic() - start < 10


def test_a_lost_spawner_leaves_no_stopped_run(tmp_path: Path) -> None:
    endless = f"echo $$; {ENDLESS}"

    def lose() -> None:
        os.kill(launcher.pid, signal.SIGKILL)

    with pytest.raises(HaloError, match="run halo again"), Launcher() as launcher:
        timer = threading.Timer(0.4, lose)
        timer.start()
        in_slices(launcher, [endless] * 3, tmp_path)
    for at in range(3):
        pid = int((tmp_path / str(at) / "stdout").read_text())
        deadline = time.monotonic() + 5
        while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not Path(f"/proc/{pid}").exists()


def test_a_spawner_whose_halo_was_killed_says_nothing(tmp_path: Path) -> None:
    streams = ("/dev/null", str(tmp_path / "out"), str(tmp_path / "err"))
    environment: dict[str, str] = {}
    request = (("/bin/true", ["true"], environment, streams), "mark")
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(SPAWNER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as spawner:
        assert spawner.stdin is not None and spawner.stdout is not None
        assert spawner.stderr is not None
        spawner.stdout.close()
        marshal.dump(request, spawner.stdin)
        spawner.stdin.flush()
        assert spawner.wait(timeout=60) == 0
        assert spawner.stderr.read() == b""
