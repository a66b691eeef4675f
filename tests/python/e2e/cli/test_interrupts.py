"""Ctrl-C ends every command, from its first instruction on, with one status and one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from halo.base.console.outcome import INTERRUPTED, status_of
from support.command import REPOSITORY

LAUNCHERS = ("scripts/halo.in", "scripts/installed.in", "scripts/packaging/debian/halo.in")
STEPS, STEP = 25, 0.012  # seconds between the start of the command and the signal
SAID = ("", "halo: interrupted\n")


@pytest.fixture
def launcher(tmp_path: Path) -> Path:
    """What scripts/build.sh makes, of a checkout that is this one."""
    (tmp_path / "bin").mkdir()
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / "halo").symlink_to(REPOSITORY / "halo")
    path = tmp_path / "bin" / "halo"
    path.write_text((REPOSITORY / "scripts" / "halo.in").read_text())
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("command", [["plan", "--list"], ["doctor"], ["report", "nothing"]])
def test_an_interrupted_start_is_at_most_one_line(launcher: Path, command: list[str]) -> None:
    interrupted = 0
    for step in range(STEPS):
        with subprocess.Popen(
            [launcher, *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            time.sleep(step * STEP)
            os.killpg(process.pid, signal.SIGINT)
            assert process.stderr is not None
            said = process.stderr.read()
        assert "Traceback" not in said
        # A shell reports both as 130: the signal may come before the launcher's first line.
        if process.returncode in (INTERRUPTED, -signal.SIGINT):
            assert said in SAID
            interrupted += 1
    assert interrupted > STEPS / 5


@pytest.mark.parametrize("template", LAUNCHERS)
def test_every_launcher_keeps_the_signals_until_they_are_handled(template: str) -> None:
    lines = (REPOSITORY / template).read_text().splitlines()
    assert "exec /usr/bin/env --block-signal=HUP,INT,TERM " in "".join(lines)
    assert next(line for line in lines if not line.startswith("#")) == "trap 'exit 130' INT"


def test_a_command_and_its_program_have_the_signals_unblocked() -> None:
    show = "print(open('/proc/self/status').read().split('SigBlk:')[1].split()[0])"
    done = subprocess.run(
        [
            *("/usr/bin/env", "--block-signal=HUP,INT,TERM", sys.executable, "-c"),
            "import subprocess, sys; from halo.base.console.outcome import status_of;"
            f"sys.exit(status_of(lambda: subprocess.call([sys.executable, '-c', {show!r}]), True))",
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout, 16) == 0


BLOCKED = """
import os, signal, sys
from halo.base.console.outcome import status_of
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.kill(os.getpid(), signal.SIGINT)
status = status_of(lambda: print("the command ran") or 0, True)
os.kill(os.getpid(), signal.SIGINT)  # while Python ends
sys.exit(status)
"""


def test_a_signal_of_a_blocked_start_is_the_end_of_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    said = (done.returncode, done.stdout, done.stderr)
    assert said == (INTERRUPTED, "", "halo: interrupted\n")


def test_a_signal_that_a_destructor_loses_arrives_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Python prints and drops exceptions of destructors and of callbacks of imports."""

    class Losing:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass

    def act() -> int:
        Losing()
        end = time.monotonic() + 10
        while time.monotonic() < end:
            time.sleep(0.001)
        return 0

    assert status_of(act, True) == INTERRUPTED
    assert capsys.readouterr().err == "halo: interrupted\n"
